import Glibc

/// SQLite's log as this process has written it last. SQLite trusts what it knows of the log, so it would not notice another
/// program that cuts or overwrites the file in place: what it writes behind that is lost with the process.
struct WrittenLog {
  /// The log's header has 32 bytes, among them two random ones that change whenever it begins anew.
  private static let headBytes = 32

  private let size: off_t
  private let head: [UInt8]
  /// Nobody else writes to it, so it stays as the last write has left it.
  private let changed: timespec

  /// Nil: it cannot be read.
  init?(_ path: String) {
    let number = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard number >= 0 else { return nil }
    let file = FileDescriptor(number)
    guard let status = file.status(), let head = file.read(count: Self.headBytes) else { return nil }
    size = status.st_size
    self.head = head
    changed = status.st_mtim
  }

  /// Whether nobody has written to it since it was `earlier`.
  func isStill(_ earlier: WrittenLog) -> Bool {
    size == earlier.size && head == earlier.head && changed.tv_sec == earlier.changed.tv_sec
      && changed.tv_nsec == earlier.changed.tv_nsec
  }
}
