import Glibc
import Synchronization

/// Log lines on their way to a descriptor that may be a pipe nobody reads, or a terminal that stands still: a line that is
/// not taken at once is lost, since whoever logs may be the thread that serves everybody. How many were lost is told with
/// the next line that is taken.
final class LineStream: TextOutputStream, Sendable {
  /// A pipe that can be written to takes so many bytes without waiting (PIPE_BUF of pipe(7)).
  static let greatestLine = 4_096

  private let descriptor: Int32
  /// Held while writing: between the look and the write nobody else of this process takes the room.
  private let lost = Mutex(0)

  init(descriptor: Int32) { self.descriptor = descriptor }

  func write(_ line: String) {
    lost.withLock { lost in
      if lost > 0 {
        guard writeNow("\(lost) lines were lost: nobody took them\n") else { return lost += 1 }
        lost = 0
      }
      if !writeNow(line) { lost += 1 }
    }
  }

  private func writeNow(_ line: String) -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    guard poll(&request, 1, 0) == 1, request.revents & Int16(POLLOUT) != 0 else { return false }
    var bytes = Array(line.utf8.prefix(Self.greatestLine))
    if bytes.count == Self.greatestLine { bytes[bytes.count - 1] = UInt8(ascii: "\n") }
    return Glibc.write(descriptor, bytes, bytes.count) == bytes.count
  }
}
