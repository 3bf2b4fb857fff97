import Glibc

/// Folders that hold secrets: ours, no links, closed to others.
enum PrivateDirectory {
  /// Opens `path`; nil when there is none.
  ///
  /// The last component must be a real folder of the effective user that nobody else may write to; with `isSecret`
  /// nobody else may enter it either. Those before it are looked at when the agent starts.
  static func open(_ path: String, isSecret: Bool) throws(VaultError) -> FileDescriptor? {
    let number = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard number >= 0 else {
      if errno == ENOENT { return nil }
      if errno == ELOOP || errno == ENOTDIR {
        throw .unsafePermissions(path: path, fix: "make it a real folder, not a link or a file")
      }
      if errno == EACCES {
        var status = stat()
        throw stat(path, &status) == 0 && status.st_uid != geteuid()
          ? .othersOwn(path: path, owner: status.st_uid, user: geteuid()) : .closedToOwner(path: path)
      }
      throw .system("open", path)
    }
    let descriptor = FileDescriptor(number)
    guard let status = descriptor.status() else { throw .system("fstat", path) }
    guard status.st_uid == geteuid() else {
      throw .othersOwn(path: path, owner: status.st_uid, user: geteuid())
    }
    if isSecret && status.st_mode & 0o077 != 0 {
      throw .openToOthers(path: path, chmod: "700")
    }
    // Root writes into it all the same; the rule is one for all.
    if isSecret && status.st_mode & 0o700 != 0o700 { throw .closedToOwner(path: path) }
    if status.st_mode & 0o022 != 0 {
      throw .openToOthers(path: path, chmod: "go-w")
    }
    return descriptor
  }

  /// Whether `path` is another user's. What is not there is nobody's.
  static func isAnothers(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_uid != geteuid()
  }

  /// Opens `path`, making it and the folders above it with mode 0700 where they are missing, each durably.
  static func make(_ path: String, isSecret: Bool) throws(VaultError) -> FileDescriptor {
    guard path.hasPrefix("/") else { throw .storageFailed("not an absolute path: \(path)") }
    try makeMissing(path)
    guard let descriptor = try open(path, isSecret: isSecret) else { throw .storageFailed("\(path) vanished") }
    return descriptor
  }

  private static func makeMissing(_ path: String) throws(VaultError) {
    var status = stat()
    if stat(path, &status) == 0 { return }
    let parent = self.parent(of: path)
    if parent != path { try makeMissing(parent) }
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .system("mkdir", path) }
    let number = Glibc.open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard number >= 0 else { throw .system("open", parent) }
    let descriptor = FileDescriptor(number)
    guard fsync(descriptor.number) == 0 else { throw .system("fsync", parent) }
  }

  /// The names in an open folder, in no order.
  static func names(in directory: borrowing FileDescriptor, _ path: String) throws(VaultError) -> [String] {
    // A description of its own, so that its place in the folder is nobody else's.
    let number = openat(directory.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard number >= 0 else { throw .system("open", path) }
    guard let stream = fdopendir(number) else {
      close(number)
      throw .system("read", path)
    }
    defer { closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        guard errno == 0 else { throw .system("read", path) }
        return names
      }
      let name = withUnsafePointer(to: &entry.pointee.d_name) { start in
        start.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: start.pointee)) {
          String(cString: $0)
        }
      }
      if name != "." && name != ".." { names.append(name) }
    }
  }

  /// The folder that holds `path`.
  static func parent(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  /// The last component of `path`.
  static func name(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
    return String(path[path.utf8.index(after: slash)...])
  }
}
