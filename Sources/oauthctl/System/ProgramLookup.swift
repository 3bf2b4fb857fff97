import AgentClient
import AgentWire
import Glibc

/// Where the programs come from that this one starts: curl, git, a browser's opener. One rule for all of them.
///
/// A name is looked for in the folders of `PATH` that are absolute, belong to root or to the user, and that nobody else
/// may write to; the program itself has to be so, too. `.`, an empty entry and `bin` would run what lies in the folder one
/// happens to be in: a token is given to `curl`, not to `./curl`.
struct ProgramLookup: Sendable {
  /// Where to look when `PATH` is not set.
  static let usualPath = "/usr/local/bin:/usr/bin:/bin"

  let path: String
  let userID: UInt32
  /// stat(2).
  let status: @Sendable (String) -> SocketLocation.FileStatus?
  let isExecutable: @Sendable (String) -> Bool

  init(
    path: String?, userID: UInt32, status: @escaping @Sendable (String) -> SocketLocation.FileStatus?,
    isExecutable: @escaping @Sendable (String) -> Bool
  ) {
    self.path = path ?? Self.usualPath
    self.userID = userID
    self.status = status
    self.isExecutable = isExecutable
  }

  static func live(_ surroundings: Surroundings = .live) -> ProgramLookup {
    ProgramLookup(
      path: surroundings["PATH"], userID: geteuid(), status: LiveSystem.followedStatus,
      isExecutable: { access($0, X_OK) == 0 })
  }

  /// The folders of `PATH` that are looked into, in its order. A program that is started gets them as its `PATH`.
  var folders: [String] {
    path.split(separator: ":").map(String.init).filter { folder in
      folder.hasPrefix("/") && status(folder).map { $0.kind == .directory && isTrusted($0) } == true
    }
  }

  /// The program `name` means, as an absolute path. One that is named by a path has to be absolute, and is taken as it is.
  func find(_ name: String) -> String? {
    if name.contains("/") { return name.hasPrefix("/") && isExecutable(name) ? name : nil }
    guard !name.isEmpty else { return nil }
    return folders.lazy.map { "\($0)/\(name)" }.first { program in
      isExecutable(program) && status(program).map { $0.kind == .other && isTrusted($0) } == true
    }
  }

  private func isTrusted(_ file: SocketLocation.FileStatus) -> Bool {
    // Whose the whole tree is may change anything: root, or who stands for root in a user namespace.
    (file.owner == 0 || file.owner == userID || file.owner == status("/")?.owner) && file.mode & 0o022 == 0
  }
}
