import AgentClient
import AgentWire
import Glibc

/// Where the programs come from that this one starts: curl, git, a browser's opener. One rule for all of them.
///
/// A name is looked for in the folders of `PATH` that are absolute, belong to root or to the user, and that nobody else
/// may write to; the program itself has to be so, too. `.`, an empty entry and `bin` would run what lies in the folder one
/// happens to be in: a token is given to `curl`, not to `./curl`.
///
/// What is looked at has to be what is started: links are followed once, at first, and every folder above is to be as
/// trusted. Else somebody who owns one of them puts another program there in between.
struct ProgramLookup: Sendable {
  /// Where to look when `PATH` is not set.
  static let usualPath = "/usr/local/bin:/usr/bin:/bin"

  let path: String
  let userID: UInt32
  /// lstat(2).
  let status: @Sendable (String) -> SocketLocation.FileStatus?
  /// realpath(3); nil where there is nothing.
  let realPath: @Sendable (String) -> String?
  let isExecutable: @Sendable (String) -> Bool
  /// The folders of `PATH` that are looked into, in its order, without links: a program that is started gets them as
  /// its `PATH`.
  private(set) var folders: [String] = []

  init(
    path: String?, userID: UInt32, status: @escaping @Sendable (String) -> SocketLocation.FileStatus?,
    realPath: @escaping @Sendable (String) -> String?, isExecutable: @escaping @Sendable (String) -> Bool
  ) {
    self.path = path ?? Self.usualPath
    self.userID = userID
    self.status = status
    self.realPath = realPath
    self.isExecutable = isExecutable
    for entry in self.path.split(separator: ":") where entry.hasPrefix("/") {
      guard let folder = realPath(String(entry)), !folders.contains(folder), isTrusted(folder: folder) else { continue }
      folders.append(folder)
    }
  }

  static func live(_ environment: Environment = .live) -> ProgramLookup {
    ProgramLookup(
      path: environment["PATH"], userID: geteuid(), status: LiveSystem.status, realPath: FileBytes.realPath(of:),
      isExecutable: { access($0, X_OK) == 0 })
  }

  /// The program `name` means, as an absolute path without links. One that is named by a path has to be absolute, and
  /// is taken as it is.
  func find(_ name: String) -> String? {
    if name.contains("/") { return name.hasPrefix("/") && isExecutable(name) ? name : nil }
    guard !name.isEmpty else { return nil }
    for folder in folders {
      guard let program = realPath("\(folder)/\(name)"), isExecutable(program),
        isTrusted(folder: FileBytes.folder(of: program)), let file = status(program)
      else { continue }
      if file.kind == .other, isOwn(file), file.mode & 0o022 == 0 { return program }
    }
    return nil
  }

  /// Whether nobody else can write to a folder or put another one in its place. `folder` has no link in it.
  ///
  /// From `/` downwards, so that a folder stays what it is once it was looked at.
  private func isTrusted(folder: String) -> Bool {
    let parts = folder.split(separator: "/")
    return (0...parts.count).allSatisfy { count in
      guard let found = status("/" + parts.prefix(count).joined(separator: "/")) else { return false }
      // In one above it, as /tmp is, others may make what they like where they cannot rename what is not theirs.
      let isClosed = found.mode & 0o022 == 0 || count < parts.count && found.mode & 0o1000 != 0
      return found.kind == .directory && isOwn(found) && isClosed
    }
  }

  /// Whose the whole tree is may change anything: root, or who stands for root in a user namespace.
  private func isOwn(_ file: SocketLocation.FileStatus) -> Bool {
    file.owner == 0 || file.owner == userID || file.owner == status("/")?.owner
  }
}
