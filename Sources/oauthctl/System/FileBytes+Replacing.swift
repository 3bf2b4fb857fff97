import AgentWire
import CLinux
import Glibc
import SystemFacts

extension FileBytes {
  /// Replaces a file's content at once: a temporary file beside it, fsync, rename, fsync of the folder. Its mode,
  /// group and access list stay, or nobody but its owner may read it then; it is 0600 of a new one.
  ///
  /// `link` is where the file is read: `path` itself, or a symbolic link that leads there, which stays. The folder is held from the
  /// first look on, and what is replaced in it is the very file that `link` leads to: a way that is turned meanwhile leads nowhere.
  ///
  /// `isMeant` says at the last moment whether the file that is there is still the one to be replaced.
  ///
  /// `isNew`: nothing of that name may be there. `lock`: what is behind the file's name in that of the temporary one, by which
  /// other programs know that the file is being replaced. One of that name is waited for.
  ///
  /// - Returns: false where it is not, and stays.
  /// - Throws: `CommandError.local` that names the file, and never the temporary one.
  @discardableResult
  static func replace(
    _ path: String, with bytes: [UInt8], readAt link: String? = nil, isNew: Bool = false, lockedBy lock: String? = nil,
    while isMeant: () -> Bool = { true }
  ) throws(CommandError) -> Bool {
    let folder = clinux_open_folder(folder(of: path))
    guard folder >= 0 else { throw unwritten(path) }
    defer { close(folder) }
    let name = name(of: path)
    let (temporary, descriptor) =
      lock.map { openLock(name + $0, in: folder) } ?? openTemporary(beside: name, in: folder)
    guard descriptor >= 0 else {
      if let lock, errno == EEXIST { throw locked(path, by: path + lock) }
      throw unwritten(path)
    }
    var about = stat()
    if fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) == 0, about.st_mode & S_IFMT == S_IFREG {
      giveRights(of: name, about, in: folder, to: descriptor)
    }
    guard writeAll(bytes, to: descriptor), fsync(descriptor) == 0 else {
      let error = unwritten(path)
      close(descriptor)
      unlinkat(folder, temporary, 0)
      throw error
    }
    close(descriptor)
    guard isMeant(), leads(link ?? path, to: name, in: folder) else {
      unlinkat(folder, temporary, 0)
      return false
    }
    // Two commands may look at once, and one of them is first.
    var isLinked = false
    if isNew {
      isLinked = linkat(folder, temporary, folder, name, 0) == 0
      let isTaken = !isLinked && errno == EEXIST
      if isLinked || isTaken { unlinkat(folder, temporary, 0) }
      if isTaken { return false }
    }
    guard isLinked || renameat(folder, temporary, folder, name) == 0 else {
      let error = unwritten(path)
      unlinkat(folder, temporary, 0)
      throw error
    }
    sync(folder)
    return true
  }

  /// Puts the file `kept`, which is in the same folder, in the place of the one at `path` by one rename: it needs no room
  /// on the disk. `link` and `isMeant` as in ``replace(_:with:readAt:isNew:lockedBy:while:)``.
  ///
  /// - Returns: false where it is not meant, and both stay.
  /// - Throws: `CommandError.local` that names the file.
  static func move(
    _ kept: String, over path: String, readAt link: String, while isMeant: () -> Bool
  ) throws(CommandError) -> Bool {
    let folder = clinux_open_folder(folder(of: path))
    guard folder >= 0 else { throw unwritten(path) }
    defer { close(folder) }
    let name = name(of: path)
    guard isMeant(), leads(link, to: name, in: folder) else { return false }
    let old = Self.name(of: kept)
    // What somebody has taken away by chmod(1) meanwhile stays taken.
    var (now, before) = (stat(), stat())
    if fstatat(folder, name, &now, AT_SYMLINK_NOFOLLOW) == 0, fstatat(folder, old, &before, AT_SYMLINK_NOFOLLOW) == 0,
      (now.st_uid, now.st_gid) == (before.st_uid, before.st_gid), before.st_mode & ~now.st_mode & 0o777 != 0
    {
      _ = fchmodat(folder, old, before.st_mode & now.st_mode & 0o777, 0)
    }
    guard renameat(folder, old, folder, name) == 0 else { throw unwritten(path) }
    sync(folder)
    return true
  }

  private static func sync(_ folder: Int32) {
    let entries = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard entries >= 0 else { return }
    _ = fsync(entries)
    close(entries)
  }

  /// A group of this process, or of the folder, is not that of the file: with its bits others could read what they could not. So could
  /// they without an access list, whose mask these bits are then, or with one that the folder gives.
  private static func giveRights(of name: String, _ about: stat, in folder: Int32, to descriptor: Int32) {
    var new = stat()
    guard fstat(descriptor, &new) == 0 else { return }
    let owner = geteuid() == 0 ? about.st_uid : new.st_uid
    let isSame = (owner, about.st_gid) == (new.st_uid, new.st_gid) || fchown(descriptor, owner, about.st_gid) == 0
    let old = isSame ? openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1
    defer { if old >= 0 { close(old) } }
    // The list first: with the bits alone somebody could open the file for a moment.
    let hasList = old >= 0 && clinux_copy_access_list(old, descriptor) == 0
    _ = fchmod(descriptor, about.st_mode & (hasList ? 0o777 : 0o700))
  }

  /// A new file beside `path`, which its owner alone may read. Its path.
  static func makeTemporary(beside path: String, holding bytes: [UInt8]) throws(CommandError) -> String {
    let (temporary, descriptor) = openTemporary(beside: path, in: AT_FDCWD)
    guard descriptor >= 0 else { throw unwritten(path) }
    defer { close(descriptor) }
    guard writeAll(bytes, to: descriptor) else {
      let error = unwritten(path)
      unlink(temporary)
      throw error
    }
    return temporary
  }

  /// A file of its own, and its name. Another command of that number, in another container or before a crash, may have left one.
  private static func openTemporary(beside name: String, in folder: Int32) -> (name: String, descriptor: Int32) {
    var (temporary, descriptor) = ("", Int32(-1))
    for attempt in 0..<100 {
      temporary = "\(name).\(getpid())\(attempt == 0 ? "" : "-\(attempt)").tmp"
      descriptor = openNew(temporary, in: folder)
      guard descriptor < 0, errno == EEXIST else { break }
    }
    return (temporary, descriptor)
  }

  /// Waits two seconds at most for whoever has it.
  private static func openLock(_ name: String, in folder: Int32) -> (name: String, descriptor: Int32) {
    var descriptor = openNew(name, in: folder)
    for _ in 0..<100 where descriptor < 0 && errno == EEXIST {
      usleep(20_000)
      descriptor = openNew(name, in: folder)
    }
    return (name, descriptor)
  }

  private static func openNew(_ name: String, in folder: Int32) -> Int32 {
    PrivateCreation.openFile(name, in: folder, O_WRONLY | O_EXCL | O_CLOEXEC | O_NOFOLLOW)
  }

  private static func locked(_ path: String, by lock: String) -> CommandError {
    .local(
      "another program is changing \(path), and holds \(lock); nothing is written",
      next: "run the command again; where no such program runs any more, remove that file", status: 1)
  }

  /// Whether `path` leads to the file `name` in `folder`; or to nothing, where nothing is there.
  private static func leads(_ path: String, to name: String, in folder: Int32) -> Bool {
    var (read, written) = (stat(), stat())
    let isThere = fstatat(folder, name, &written, AT_SYMLINK_NOFOLLOW) == 0
    guard stat(path, &read) == 0 else { return !isThere }
    return isThere && (read.st_dev, read.st_ino) == (written.st_dev, written.st_ino)
  }

  /// Why `path` was not written, by `errno`. A disk without room says nothing against an account, and gets room again.
  private static func unwritten(_ path: String) -> CommandError {
    let code = errno
    guard code == ENOSPC || code == EDQUOT else {
      return .local(
        "cannot write \(path): \(errorText(code))", next: writing(in: folder(of: path), failed: code), status: 3)
    }
    return .local(
      "cannot write \(path): the disk is full", next: "make room there, then run the command again", status: 6)
  }
}
