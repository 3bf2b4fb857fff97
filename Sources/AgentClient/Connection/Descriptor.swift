import Glibc
import SystemFacts

/// An open file descriptor, closed when the last reference goes.
final class Descriptor {
  let number: Int32

  init(_ number: Int32) { self.number = number }

  deinit { close(number) }
}

/// A moment of the monotonic clock until which to wait.
struct Deadline {
  let milliseconds: Int
  private let end: Int

  init(milliseconds: Int) {
    self.milliseconds = milliseconds
    end = MonotonicClock.milliseconds() + milliseconds
  }

  /// 0 when it is over; fits poll.
  var remainingMilliseconds: Int32 { Int32(clamping: max(0, end - MonotonicClock.milliseconds())) }

  /// Waits for `events`. Throws `timeout`.
  func wait(for descriptor: Descriptor, _ events: Int32) throws(ClientError) {
    _ = try wait(for: descriptor, events, atMost: .max)
  }

  /// Whether `events` came within `milliseconds` from now. Throws `timeout` where the deadline comes first.
  func wait(for descriptor: Descriptor, _ events: Int32, atMost milliseconds: Int32) throws(ClientError) -> Bool {
    let first = milliseconds < remainingMilliseconds ? Deadline(milliseconds: Int(milliseconds)) : self
    var request = pollfd(fd: descriptor.number, events: Int16(events), revents: 0)
    while true {
      let remaining = first.remainingMilliseconds
      let count = poll(&request, 1, remaining)
      if count > 0 { return true }
      if count == 0 || remaining == 0 {
        if remainingMilliseconds > 0 { return false }
        throw .timeout(milliseconds: self.milliseconds)
      }
      guard errno == EINTR else { throw .protocolViolation(describe(errno: errno)) }
    }
  }
}

/// The text of an error number, as strerror(3) has it.
func describe(errno number: Int32) -> String { strerror(number).map { String(cString: $0) } ?? "error \(number)" }
