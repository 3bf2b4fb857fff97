import AgentClient
import AgentWire
import CLinux
import Glibc
import SystemFacts

/// Where the programs come from that this one starts: curl, git, a browser's opener. One rule for all of them.
///
/// A name is looked for in the folders of `PATH` that are absolute, belong to root or to the user, and that nobody else
/// may write to; the program itself has to be so, too. `.`, an empty entry and `bin` would run what lies in the folder one
/// happens to be in: a token is given to `curl`, not to `./curl`.
///
/// What is looked at has to be what is started: links are followed once, at first, and every link and every folder of the way
/// is to be as trusted. Else somebody who owns one of them puts another program there in between. No way leads through procfs, where
/// `/proc/self/cwd` is `.` by another name.
struct ProgramLookup: Sendable {
  /// Where to look when `PATH` is not set.
  static let usualPath = "/usr/local/bin:/usr/bin:/bin"

  let path: String
  let userID: UInt32
  /// lstat(2).
  let status: @Sendable (String) -> SocketLocation.FileStatus?
  /// A path without links; nil where there is nothing, and where the way leads through procfs.
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
    folders = trustedFolders(in: self.path)
  }

  /// The folders of a list like `PATH` that nobody else can put something into, in its order, without links, each once.
  func trustedFolders(in list: String) -> [String] {
    var folders: [String] = []
    for entry in list.utf8.split(separator: UInt8(ascii: ":")) where entry.first == UInt8(ascii: "/") {
      guard let folder = realPath(String(decoding: entry, as: UTF8.self)), isTrusted(folder: folder),
        !folders.contains(where: { $0.utf8.elementsEqual(folder.utf8) })
      else { continue }
      folders.append(folder)
    }
    return folders
  }

  static func live(_ environment: Environment = .live) -> ProgramLookup {
    ProgramLookup(
      path: environment["PATH"], userID: geteuid(), status: LiveSystem.status, realPath: Self.place,
      isExecutable: { access($0, X_OK) == 0 })
  }

  /// The program `name` means, as an absolute path without links. One that is named by a path has to be absolute, and
  /// is taken as it is.
  func find(_ name: String) -> String? {
    if name.utf8.contains(UInt8(ascii: "/")) {
      return PathWalk.isAbsolute(name) && Self.isText(name) && isExecutable(name) ? name : nil
    }
    guard !name.isEmpty else { return nil }
    // Each is asked once: a lazy sequence asks twice, and ends the process where the second answer is another one.
    for folder in folders {
      if let file = trustedFile("\(folder)/\(name)"), isExecutable(file) { return file }
    }
    return nil
  }

  /// A file that nobody else can change or put another one in the place of, without links; nil: it is none.
  func trustedFile(_ path: String) -> String? {
    guard path.utf8.first == UInt8(ascii: "/"), let place = realPath(path),
      isTrusted(folder: FileBytes.folder(of: place)), let file = status(place),
      file.kind == .other, trust.isOwn(file.owner, at: place), file.mode & 0o022 == 0
    else { return nil }
    return place
  }

  /// From `/` downwards, so that a folder stays what it is once it was looked at. `folder` has no link in it.
  private func isTrusted(folder: String) -> Bool {
    // Of bytes: a name that begins with an accent would make one character with the slash.
    let parts = folder.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
    return (0...parts.count).allSatisfy { count in
      trust.fault(of: "/" + parts.prefix(count).joined(separator: "/"), isLast: count == parts.count) == nil
    }
  }

  private var trust: FolderTrust {
    FolderTrust(for: .programs, userID: userID) { [status] path in
      status(path).map { .init(isFolder: $0.kind == .directory, owner: $0.owner, mode: $0.mode) }
    }
  }

  /// Whether it is UTF-8 in the environment, and not another path that was made of it.
  private static func isText(_ path: String) -> Bool { !path.unicodeScalars.contains("\u{FFFD}") }

  /// Where a path leads, without links; nil where there is nothing, where somebody else may turn a link of the way, and where
  /// the way leads through procfs: its links go to what some process has open or stands in, whatever they are called.
  @Sendable static func place(of path: String) -> String? {
    guard isText(path), let way = PathWalk.live(path) else { return nil }
    // PROC_SUPER_MAGIC of linux/magic.h.
    guard !(way.folders + [way.end]).contains(where: { clinux_filesystem_type($0) == 0x9FA0 }) else { return nil }
    let trust = FolderTrust(for: .programs, userID: geteuid(), facts: FolderTrust.live)
    let isOurs =
      way.folders.allSatisfy { trust.fault(of: $0, isLast: false) == nil }
      && way.links.allSatisfy { link in FolderTrust.live(link).map { trust.isOwn($0.owner, at: link) } == true }
    return isOurs ? way.end : nil
  }
}
