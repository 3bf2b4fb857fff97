package import AgentWire
import Glibc

extension SocketLocation {
  /// lstat as ``SocketLocation/resolve(variable:uid:status:)`` wants it: nil where there is nothing to see.
  package static func fileStatus(_ path: String) -> FileStatus? {
    var found = stat()
    guard lstat(path, &found) == 0 else { return nil }
    let kind: FileStatus.Kind =
      switch found.st_mode & S_IFMT {
      case S_IFDIR: .directory
      case S_IFLNK: .symbolicLink
      case S_IFSOCK: .socket
      default: .other
      }
    return FileStatus(kind: kind, owner: found.st_uid, mode: found.st_mode & 0o7777)
  }
}
