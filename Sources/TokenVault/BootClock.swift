import CLinux
import Glibc

/// The clock that only counts forward, suspend included.
package enum BootClock {
  /// Seconds since the boot.
  @Sendable package static func seconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
  }
}
