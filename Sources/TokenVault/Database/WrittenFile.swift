import Glibc

/// One of the database's files as this process has written it last. SQLite trusts what it remembers of them, so it would not
/// notice another program that cuts or overwrites one in place: what it writes behind that is lost with the process.
struct WrittenFile: Equatable {
  let size: off_t
  /// Of its state, which a program that writes to it cannot set back, unlike the time of the last write. A change of its
  /// mode counts, too.
  private let seconds: Int
  private let nanoseconds: Int
  private let writtenSeconds: Int
  private let writtenNanoseconds: Int

  /// Opens nothing: there may be no descriptor left. Nil: it is not there.
  init?(_ path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    size = status.st_size
    (seconds, nanoseconds) = (status.st_ctim.tv_sec, status.st_ctim.tv_nsec)
    (writtenSeconds, writtenNanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
  }

  /// Whether nobody has said since that it was written to: other modes and owners say nothing.
  func isContent(of other: WrittenFile) -> Bool {
    (size, writtenSeconds, writtenNanoseconds) == (other.size, other.writtenSeconds, other.writtenNanoseconds)
  }
}
