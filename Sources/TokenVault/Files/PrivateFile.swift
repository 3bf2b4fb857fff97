import Glibc

/// Files that hold secrets: regular, ours, one name, mode 0600 or less, never through a link.
enum PrivateFile {
  /// Throws `unsafePermissions` unless `status` is that of such a file.
  static func check(_ status: stat, _ path: String) throws(VaultError) {
    if status.st_mode & S_IFMT == S_IFLNK {
      throw .unsafePermissions(path: path, fix: "it is a symbolic link; put the file itself there")
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw .unsafePermissions(path: path, fix: "it is not a regular file; move it away")
    }
    guard status.st_uid == geteuid() else {
      throw .othersOwn(path: path, owner: status.st_uid, user: geteuid())
    }
    guard status.st_mode & 0o077 == 0 else {
      throw .openToOthers(path: path, chmod: "600")
    }
    guard status.st_nlink == 1 else {
      throw .unsafePermissions(
        path: path,
        fix: "it has \(status.st_nlink) names (hard links); remove the others, or copy it and rename the copy")
    }
  }

  /// Checks `name` in `directory` without opening it. Nil when there is none.
  static func status(
    in directory: borrowing FileDescriptor, _ name: String, _ path: String
  ) throws(VaultError) -> stat? {
    var status = stat()
    guard fstatat(directory.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      if errno == ENOENT { return nil }
      throw .system("stat", path)
    }
    try check(status, path)
    // Root reads it all the same; the rule is one for all.
    guard status.st_mode & 0o400 != 0 else { throw .unreadable(path: path) }
    return status
  }

  /// Opens and checks `name`; nil when there is none (and `flags` make none).
  static func open(
    in directory: borrowing FileDescriptor, _ name: String, _ path: String, flags: Int32
  ) throws(VaultError) -> FileDescriptor? {
    // Without O_NONBLOCK a planted FIFO would hang the open.
    let number = openat(directory.number, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
    guard number >= 0 else {
      if errno == ENOENT { return nil }
      if errno == ELOOP {
        throw .unsafePermissions(path: path, fix: "it is a symbolic link; put the file itself there")
      }
      if errno == EACCES, flags & O_CREAT == 0 {
        var status = stat()
        let isSeen = fstatat(directory.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0
        throw isSeen && status.st_uid != geteuid()
          ? .othersOwn(path: path, owner: status.st_uid, user: geteuid()) : .unreadable(path: path)
      }
      throw .system("open", path)
    }
    let descriptor = FileDescriptor(number)
    guard let status = descriptor.status() else { throw .system("fstat", path) }
    try check(status, path)
    return descriptor
  }

  /// The bytes of `name`, `limit` at most; nil when there is none.
  static func read(
    in directory: borrowing FileDescriptor, _ name: String, _ path: String, limit: Int
  ) throws(VaultError) -> [UInt8]? {
    guard let descriptor = try open(in: directory, name, path, flags: O_RDONLY) else { return nil }
    guard let bytes = descriptor.readAll(limit: limit) else { throw .system("read", path) }
    return bytes
  }

  /// Makes `name` with `bytes`, whole or not at all, durable when it returns. Throws when there is one already, unless it
  /// `replaces` that. What it throws at leaves everything as it was, and nothing that takes room.
  static func create(
    in directory: borrowing FileDescriptor, _ name: String, _ path: String, _ bytes: [UInt8], replaces: Bool = false
  ) throws(VaultError) {
    let draft = name + ".new"
    guard unlinkat(directory.number, draft, 0) == 0 || errno == ENOENT else { throw .system("unlink", path + ".new") }
    guard let descriptor = try open(in: directory, draft, path + ".new", flags: O_WRONLY | O_CREAT | O_EXCL) else {
      throw .system("create", path)
    }
    do throws(VaultError) {
      guard descriptor.write(bytes, at: 0) else { throw .system("write", path) }
      guard fsync(descriptor.number) == 0 else { throw .system("fsync", path) }
      try publish(in: directory, draft, as: name, path, replaces: replaces)
    } catch {
      unlinkat(directory.number, draft, 0)
      throw error
    }
  }

  /// Copies the file at `path`, the user's own, as `name` into `directory`; `limit` bytes at most.
  static func copy(
    from path: String, in directory: borrowing FileDescriptor, _ name: String, _ target: String, limit: Int
  ) throws(VaultError) {
    guard path.hasPrefix("/") else { throw .storageFailed("not an absolute path: \(path)") }
    let number = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard number >= 0 else { throw .system("open", path) }
    let source = FileDescriptor(number)
    guard let status = source.status() else { throw .system("fstat", path) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw .damaged(what: "\(path) is not a file that could be a vault")
    }
    guard status.st_size <= limit else {
      throw .damaged(what: "\(path) has \(status.st_size) bytes; \(limit >> 20) MiB is the most that is checked")
    }
    guard let copy = try open(in: directory, name, target, flags: O_WRONLY | O_CREAT | O_EXCL) else {
      throw .system("create", target)
    }
    // No more than was there: it may grow.
    var left = Int(status.st_size)
    while left > 0 {
      let count = sendfile(copy.number, source.number, nil, min(left, 1 << 20))
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw .system("copy", path) }
      if count == 0 { return }
      left -= count
    }
  }

  /// Gives the finished `draft` its name, durably. Throws when the name is taken, unless it `replaces` that file; whoever calls
  /// holds the vault's lock, so nobody takes it between the look and the rename.
  static func publish(
    in directory: borrowing FileDescriptor, _ draft: String, as name: String, _ path: String, replaces: Bool = false
  ) throws(VaultError) {
    if !replaces, try status(in: directory, name, path) != nil { throw .alreadyExists(path: path) }
    guard renameat(directory.number, draft, directory.number, name) == 0 else { throw .system("rename to", path) }
    guard fsync(directory.number) == 0 else { throw .system("fsync the folder of", path) }
  }
}
