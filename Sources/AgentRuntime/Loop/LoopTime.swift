import CLinux
import Glibc

/// A moment on the monotonic clock, as a loop's timers and deadlines use it: 64 bits, since each answer compares some.
package struct LoopTime: Sendable, Comparable {
  /// Nanoseconds of CLOCK_MONOTONIC.
  package var nanoseconds: Int64

  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  package static func now() -> LoopTime {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return LoopTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  package static func < (left: LoopTime, right: LoopTime) -> Bool { left.nanoseconds < right.nanoseconds }

  package static func + (left: LoopTime, right: LoopSpan) -> LoopTime {
    LoopTime(nanoseconds: left.nanoseconds + right.nanoseconds)
  }

  package static func - (left: LoopTime, right: LoopSpan) -> LoopTime {
    LoopTime(nanoseconds: left.nanoseconds - right.nanoseconds)
  }

  package static func - (left: LoopTime, right: LoopTime) -> LoopSpan {
    LoopSpan(nanoseconds: left.nanoseconds - right.nanoseconds)
  }
}

/// A length of time between two of them.
package struct LoopSpan: Sendable, Comparable {
  package var nanoseconds: Int64

  package static func seconds(_ count: Int64) -> LoopSpan { LoopSpan(nanoseconds: count * 1_000_000_000) }
  package static func milliseconds(_ count: Int64) -> LoopSpan { LoopSpan(nanoseconds: count * 1_000_000) }

  package static func < (left: LoopSpan, right: LoopSpan) -> Bool { left.nanoseconds < right.nanoseconds }

  /// Whole milliseconds, rounded up, and not below 0: as epoll(7) wants them.
  var roundedUpMilliseconds: Int32 {
    guard nanoseconds > 0 else { return 0 }
    let milliseconds = nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1)
    return Int32(clamping: milliseconds)
  }
}
