import CLinux
import Glibc

/// Where file systems are mounted. What is asked is the kernel's table alone, so that one that hangs holds nobody up.
enum MountPoint {
  /// Of the file system that holds `path`, no link followed. Nil: the one at `/`, what only mounts others (autofs), or no
  /// `table` to be read.
  static func of(_ path: String, table: String = "/proc/self/mounts") -> String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    guard clinux_mount_point(table, path, &buffer, buffer.count) > 0 else { return nil }
    return buffer.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
  }
}
