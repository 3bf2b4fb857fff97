import Glibc

/// The clock that nobody sets (CLOCK_MONOTONIC). It stands still while the machine is suspended.
package enum MonotonicClock {
  package static func milliseconds() -> Int { microseconds() / 1_000 }

  package static func microseconds() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
  }
}
