import Glibc

/// Files whose bytes are sealed: what opens is genuine, wherever it lies and whoever may read it. So they are read through links
/// and whatever their mode is, where ``PrivateFile`` is strict: one that was passed over may have the only copy of a token.
enum SealedFile {
  /// The bytes at `path`; nil where there is no file of `limit` bytes at most, or where only another user could say so.
  ///
  /// - Throws: what keeps the user from his own.
  static func read(_ path: String, limit: Int) throws(VaultError) -> [UInt8]? {
    // Without O_NONBLOCK a planted FIFO would hang the open.
    let number = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    guard number >= 0 else {
      if let failure = obstacle(at: path) { throw failure }
      return nil
    }
    let descriptor = FileDescriptor(number)
    guard let status = descriptor.status() else { throw .system("fstat", path) }
    guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit else { return nil }
    guard let bytes = descriptor.readAll(limit: limit) else { throw .system("read", path) }
    return bytes
  }

  /// The names in the folder at `path`, in no order; none where there is no folder, or it is another user's.
  ///
  /// - Throws: what keeps the user from his own.
  static func names(in path: String) throws(VaultError) -> [String] {
    let number = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard number >= 0 else {
      if let failure = obstacle(at: path) { throw failure }
      return []
    }
    let descriptor = FileDescriptor(number)
    guard let status = descriptor.status() else { throw .system("fstat", path) }
    guard status.st_uid == geteuid() else { return [] }
    return try PrivateDirectory.names(in: descriptor, path)
  }

  /// Whether there is something at `path`, or may be.
  static func mayBe(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 || ![ENOENT, ENOTDIR, ELOOP].contains(errno)
  }

  /// Why `path` was not opened, by errno; nil: nothing is there, or another user keeps us out.
  private static func obstacle(at path: String) -> VaultError? {
    let code = errno
    guard ![ENOENT, ENOTDIR, ELOOP].contains(code) else { return nil }
    guard code == EACCES else { return .system("open", path) }
    // Whose it is, or who keeps us from looking.
    var place = path
    var status = stat()
    while stat(place, &status) != 0, place != "/" { place = PrivateDirectory.parent(of: place) }
    guard status.st_uid == geteuid() else { return nil }
    return place == path && status.st_mode & S_IFMT == S_IFREG
      ? .unreadable(path: path) : .closedToOwner(path: place)
  }
}
