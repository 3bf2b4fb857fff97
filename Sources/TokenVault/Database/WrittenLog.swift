import Glibc

/// SQLite's log as this process has written it last. SQLite trusts what it knows of the log, so it would not notice another
/// program that cuts or overwrites the file in place: what it writes behind that is lost with the process.
struct WrittenLog {
  private let size: off_t
  /// Nobody else writes to it, so it stays as the last write has left it.
  private let changed: timespec

  /// Opens nothing: there may be no descriptor left. Nil: it is not there.
  init?(_ path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    size = status.st_size
    changed = status.st_mtim
  }

  /// Whether nobody has written to it since it was `earlier`.
  func isStill(_ earlier: WrittenLog) -> Bool {
    size == earlier.size && changed.tv_sec == earlier.changed.tv_sec && changed.tv_nsec == earlier.changed.tv_nsec
  }
}
