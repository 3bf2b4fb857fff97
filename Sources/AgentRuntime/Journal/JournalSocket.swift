import Glibc

/// The journal's own socket (systemd's "native protocol": a datagram for each entry).
final class JournalSocket: Sendable {
  static let standardPath = "/run/systemd/journal/socket"

  private let descriptor: Int32
  private let path: String

  /// Nil when standard error is not connected to the journal: then nobody reads it there. `JOURNAL_STREAM` names the
  /// device and inode of the stream that is (systemd.exec(5)).
  init?(environment: [String: String], stream: Int32 = STDERR_FILENO, path: String = standardPath) {
    var status = stat()
    guard let named = environment["JOURNAL_STREAM"], fstat(stream, &status) == 0,
      named == "\(status.st_dev):\(status.st_ino)"
    else { return nil }
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    self.path = path
  }

  deinit { close(descriptor) }

  /// Sends an entry without waiting: a journal that is busy or gone holds nobody up. False when it was not taken.
  func send(_ entry: [UInt8]) -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    let sent = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(
          descriptor, entry, entry.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT), $0,
          socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    return sent == entry.count
  }
}
