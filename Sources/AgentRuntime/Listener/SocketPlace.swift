import Glibc

/// Where a bound Unix socket stands in the file system, and whether callers still find it there.
struct SocketPlace: Sendable {
  let path: String
  private let device: UInt
  private let inode: UInt

  /// Nil when the socket has no path, or when its file is already gone.
  init?(of descriptor: Int32) {
    guard let path = Self.boundPath(descriptor), let found = Self.identity(path) else { return nil }
    self.path = path
    (device, inode) = found
  }

  /// False once the file has been removed or replaced: whoever connects from now on does not reach us.
  var isReachable: Bool { Self.identity(path).map { $0 == (device, inode) } ?? false }

  private static func boundPath(_ descriptor: Int32) -> String? {
    var address = sockaddr_un()
    var length = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
    }
    guard result == 0, address.sun_family == sa_family_t(AF_UNIX) else { return nil }
    let bytes = withUnsafeBytes(of: &address.sun_path) { Array($0.prefix { $0 != 0 }) }
    // An abstract name begins with a NUL.
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }

  private static func identity(_ path: String) -> (UInt, UInt)? {
    var found = stat()
    guard lstat(path, &found) == 0 else { return nil }
    return (UInt(found.st_dev), UInt(found.st_ino))
  }
}
