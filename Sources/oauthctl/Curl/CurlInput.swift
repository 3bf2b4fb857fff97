import CLinux
import Glibc

/// Standard input that curl reads, kept so that it can be sent a second time: in memory of the kernel, without a name.
/// What is longer than the limit is sent once, the kept part first.
final class CurlInput {
  /// Longest input that is kept for a second try: 64 MiB; a longer upload is not repeated.
  static let limit = 64 << 20

  let descriptor: Int32
  /// Whether the end came before the limit.
  let isWhole: Bool
  private let start: off_t

  private init(descriptor: Int32, isWhole: Bool, start: off_t) {
    self.descriptor = descriptor
    self.isWhole = isWhole
    self.start = start
  }

  /// Reads standard input; a file is left where it is and only remembered.
  ///
  /// - Throws: `CommandError.local` with status 125.
  static func keep() throws(CommandError) -> CurlInput {
    var found = stat()
    if fstat(STDIN_FILENO, &found) == 0, found.st_mode & S_IFMT == S_IFREG {
      let start = lseek(STDIN_FILENO, 0, SEEK_CUR)
      if start >= 0 { return CurlInput(descriptor: STDIN_FILENO, isWhole: true, start: start) }
    }
    let kept = clinux_memfd_create("input", 1)
    guard kept >= 0 else {
      throw .local("standard input cannot be kept: \(FileBytes.errorText())", status: 125)
    }
    var count = 0
    while count < limit {
      guard let some = FileBytes.readSome(from: STDIN_FILENO, limit: min(256 << 10, limit - count)) else {
        throw .local("standard input cannot be read: \(FileBytes.errorText())", status: 125)
      }
      if some.isEmpty {
        lseek(kept, 0, SEEK_SET)
        return CurlInput(descriptor: kept, isWhole: true, start: 0)
      }
      guard FileBytes.writeAll(some, to: kept) else {
        throw .local("standard input cannot be kept: \(FileBytes.errorText())", status: 125)
      }
      count += some.count
    }
    return try feeding(kept)
  }

  /// A pipe that gives what was kept, then the rest as it comes.
  private static func feeding(_ kept: Int32) throws(CommandError) -> CurlInput {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw .local("the system gives no pipe: \(FileBytes.errorText())", status: 125)
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    lseek(kept, 0, SEEK_SET)
    let out = ends[1]
    let feeder = Background { () -> Bool in
      defer { close(out) }
      for source in [kept, STDIN_FILENO] {
        while let some = FileBytes.readSome(from: source, limit: 256 << 10), !some.isEmpty {
          if !FileBytes.writeAll(some, to: out) { return false }
        }
      }
      return true
    }
    guard feeder != nil else { throw .local("the system gives no thread", status: 125) }
    return CurlInput(descriptor: ends[0], isWhole: false, start: 0)
  }

  /// Back to the first byte, for the second time.
  func rewind() { lseek(descriptor, start, SEEK_SET) }
}
