import Glibc

/// Makes files and folders that are their user's alone, under any umask(2): a shell's umask may take rights from the user
/// himself, and then the agent cannot read what was made for it. The umask stays, since it is the whole process's.
package enum PrivateCreation {
  /// mkdir(2) with mode 0700. Returns what that returns, with its errno.
  package static func makeFolder(_ path: String) -> Int32 {
    guard mkdir(path, 0o700) == 0 else { return -1 }
    _ = fchmodat(AT_FDCWD, path, 0o700, AT_SYMLINK_NOFOLLOW)
    return 0
  }

  /// The same with the folders above it that are missing. Returns the errno of what cannot be made, which may be there; 0:
  /// it is made.
  package static func makeFolders(_ path: String) -> Int32 {
    if makeFolder(path) == 0 { return 0 }
    guard errno == ENOENT, path.utf8.first == UInt8(ascii: "/"), case let above = PathWalk.parent(of: path),
      above != "/"
    else { return errno }
    let obstacle = makeFolders(above)
    return makeFolder(path) == 0 ? 0 : obstacle == 0 ? errno : obstacle
  }

  /// openat(2) of `path`, in `folder` where it is relative, with `flags`, O_CREAT and mode 0600. Returns what that returns, with its
  /// errno.
  package static func openFile(_ path: String, in folder: Int32 = AT_FDCWD, _ flags: Int32) -> Int32 {
    let descriptor = openat(folder, path, flags | O_CREAT, 0o600)
    if descriptor >= 0 { _ = fchmod(descriptor, 0o600) }
    return descriptor
  }
}
