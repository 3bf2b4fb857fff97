import SystemFacts

/// Where the agent's socket is. Both ends resolve it by the same rules.
package struct SocketLocation: Sendable, Equatable {
  /// What decided.
  package enum Source: String, Sendable {
    /// `$OAUTHCTL_SOCKET`: used or fails; nothing is started there.
    case environment
    /// `$XDG_RUNTIME_DIR/oauthctl/agent.sock`.
    case runtimeDirectory
    /// `/run/user/UID/oauthctl/agent.sock`.
    case userRuntimeDirectory
    /// `/tmp/oauthctl-UID/agent.sock`.
    case temporary
  }

  /// What lstat tells of a path.
  package struct FileStatus: Sendable, Equatable {
    package enum Kind: Sendable { case directory, symbolicLink, socket, other }
    package var kind: Kind
    package var owner: UInt32
    /// Permission bits, 0 to 0o7777.
    package var mode: UInt32

    package init(kind: Kind, owner: UInt32, mode: UInt32) {
      self.kind = kind
      self.owner = owner
      self.mode = mode
    }
  }

  /// Why there is no location, with the next step.
  package enum Failure: Error, Sendable, Equatable {
    case emptyVariable
    case relativeVariable(String)
    case tooLong(String)
    case unsafeDirectory(String, DirectoryProblem)

    package var message: String {
      switch self {
      case .emptyVariable: "OAUTHCTL_SOCKET is set but empty"
      case .relativeVariable(let path): "OAUTHCTL_SOCKET is no absolute path: \(PrintableText.escaped(path))"
      case .tooLong(let path):
        "the socket path is longer than \(SocketLocation.greatestPathBytes) bytes: \(PrintableText.escaped(path))"
      case .unsafeDirectory(let path, let problem): "\(PrintableText.escaped(path)) \(problem)"
      }
    }

    package var hint: NextStep {
      switch self {
      case .emptyVariable: .run("unset OAUTHCTL_SOCKET   # or set it to the path of a socket")
      case .relativeVariable: "set OAUTHCTL_SOCKET to a path that begins with /"
      case .tooLong: "set XDG_RUNTIME_DIR or OAUTHCTL_SOCKET to a shorter path"
      case .unsafeDirectory(let path, .openToOthers):
        .run("chmod 700 \(PrintableText.escaped(ShellWord.quoted(path)))")
      // Another's folder in a sticky /tmp is not ours to remove.
      case .unsafeDirectory:
        "use a folder of your own (mode 700), in every shell: mkdir -m 700 ~/.oauthctl; export XDG_RUNTIME_DIR=~/.oauthctl"
      }
    }
  }

  /// The longest path that fits sockaddr_un, its NUL left out.
  package static let greatestPathBytes = 107

  package let path: String
  package let source: Source

  package init(path: String, source: Source) {
    self.path = path
    self.source = source
  }

  /// The line that has a shell use the agent behind the socket at `path`.
  package static func export(_ path: String) -> String {
    let tail = "/oauthctl/agent.sock"
    let isPlain = path.hasSuffix(tail) && path.utf8.count > tail.utf8.count
    let (name, value) = isPlain ? ("XDG_RUNTIME_DIR", String(path.dropLast(tail.count))) : ("OAUTHCTL_SOCKET", path)
    return "export \(name)=\(PrintableText.escaped(ShellWord.quoted(value)))"
  }

  /// The directory of the socket.
  package var directory: String {
    // As bytes: comparing characters would load the tables of Unicode for every token.
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  /// Resolves the location; `variable` reads the environment, `status` is lstat, nil where there is nothing. A closure,
  /// since the first dictionary of a process costs as much as all the rest of a token's way.
  ///
  /// `$XDG_RUNTIME_DIR` counts when it is absolute and a directory of ours that nobody else may write: after `su` it is
  /// another's, and is passed over.
  package static func resolve(
    variable: (String) -> String?, uid: UInt32, status: (String) -> FileStatus?
  ) throws(Failure) -> SocketLocation {
    if let path = variable("OAUTHCTL_SOCKET") {
      if path.isEmpty { throw .emptyVariable }
      guard path.utf8.first == UInt8(ascii: "/") else { throw .relativeVariable(path) }
      return try bounded(path, .environment)
    }
    if let base = variable("XDG_RUNTIME_DIR"), base.utf8.first == UInt8(ascii: "/"), isOurs(status(base), uid) {
      return try bounded(trimmed(base) + "/oauthctl/agent.sock", .runtimeDirectory)
    }
    if case let base = "/run/user/\(uid)", isOurs(status(base), uid) {
      return try bounded(base + "/oauthctl/agent.sock", .userRuntimeDirectory)
    }
    let location = try bounded("/tmp/oauthctl-\(uid)/agent.sock", .temporary)
    if let found = status(location.directory), let problem = location.problem(ofDirectory: found, uid: uid) {
      throw .unsafeDirectory(location.directory, problem)
    }
    return location
  }

  /// `$XDG_RUNTIME_DIR` where it is passed over though it is ours, since others may write there; nil: that is not so.
  package static func openRuntimeFolder(
    variable: (String) -> String?, uid: UInt32, status: (String) -> FileStatus?
  ) -> String? {
    guard variable("OAUTHCTL_SOCKET") == nil, let base = variable("XDG_RUNTIME_DIR"),
      base.utf8.first == UInt8(ascii: "/"), let found = status(base), found.kind == .directory, found.owner == uid,
      found.mode & 0o022 != 0
    else { return nil }
    return trimmed(base)
  }

  /// Why the socket's directory cannot be trusted.
  package enum DirectoryProblem: Sendable, Equatable, CustomStringConvertible {
    case symbolicLink, noDirectory, othersOwn, writableByOthers
    case openToOthers(mode: UInt32)

    package var description: String {
      switch self {
      case .symbolicLink: "is a symbolic link"
      case .noDirectory: "is not a directory"
      case .othersOwn: "belongs to another user"
      case .writableByOthers: "may be written by others"
      case .openToOthers(let mode): "is open to others (mode \(FileMode.digits(mode)))"
      }
    }
  }

  /// Why the socket's directory cannot be trusted, or nil. Checked by both sides before a byte is sent or read.
  ///
  /// A default directory is ours and closed to all others. One that the user named may be root's, and may be read by
  /// others, but nobody else may write there.
  package func problem(ofDirectory found: FileStatus, uid: UInt32) -> DirectoryProblem? {
    switch found.kind {
    case .directory: break
    case .symbolicLink: return .symbolicLink
    default: return .noDirectory
    }
    let isNamed = source == .environment
    guard found.owner == uid || (isNamed && found.owner == 0) else { return .othersOwn }
    if isNamed { return found.mode & 0o022 == 0 ? nil : .writableByOthers }
    return found.mode & 0o077 == 0 ? nil : .openToOthers(mode: found.mode & 0o777)
  }

  private static func isOurs(_ status: FileStatus?, _ uid: UInt32) -> Bool {
    guard let status else { return false }
    return status.kind == .directory && status.owner == uid && status.mode & 0o022 == 0
  }

  private static func trimmed(_ path: String) -> String {
    var path = path
    while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
    return path == "/" ? "" : path
  }

  private static func bounded(_ path: String, _ source: Source) throws(Failure) -> SocketLocation {
    guard path.utf8.count <= greatestPathBytes, !path.utf8.contains(0) else { throw .tooLong(path) }
    return SocketLocation(path: path, source: source)
  }
}
