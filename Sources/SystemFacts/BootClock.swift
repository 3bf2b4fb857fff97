import Glibc

/// The clock that only counts forward, suspend included.
package enum BootClock {
  /// Seconds since the boot.
  @Sendable package static func seconds() -> Double {
    let time = now()
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
  }

  /// Whole milliseconds since the boot.
  package static func milliseconds() -> Int {
    let time = now()
    return time.tv_sec * 1_000 + time.tv_nsec / 1_000_000
  }

  private static func now() -> timespec {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return time
  }
}
