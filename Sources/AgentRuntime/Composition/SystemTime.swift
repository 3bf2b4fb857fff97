package import AgentCore
import Glibc

/// The machine's clocks. Sleeping counts suspend, as ContinuousClock does on Linux (CLOCK_BOOTTIME).
package struct SystemTime: TimeKeeper {
  private let bootID: String

  package init() { bootID = Self.readBootID() }

  package func now() -> Moment {
    Moment(bootID: bootID, bootSeconds: Self.seconds(CLOCK_BOOTTIME), wallSeconds: Self.seconds(CLOCK_REALTIME))
  }

  package func sleep(seconds: Double) async throws {
    // A day at most, so that no arithmetic overflows; whoever wakes early looks at the clock and sleeps again.
    try await Task.sleep(for: .milliseconds(Int64(min(max(seconds, 0), 86_400) * 1_000) + 1), clock: .continuous)
  }

  private static func seconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
  }

  /// Without it every boot looks like another: wall time then decides, which is safe.
  private static func readBootID() -> String {
    let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "unknown-\(getpid())" }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(file, &bytes, bytes.count)
    guard count > 0 else { return "unknown-\(getpid())" }
    return String(decoding: bytes[..<count].filter { $0 > 0x20 }, as: UTF8.self)
  }
}
