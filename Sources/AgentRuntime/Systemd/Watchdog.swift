/// Feeds the service manager's watchdog (sd_watchdog_enabled(3)) with a proof of life.
///
/// The word is sent by the loop that serves requests, and only after what answers them has answered: a hang of
/// either ends in silence, whatever other threads do.
package enum Watchdog {
  /// Microseconds within which the manager wants to hear something; nil when it does not watch this process.
  package static func intervalMicroseconds(_ environment: [String: String], pid: Int32) -> Int64? {
    if let owner = environment["WATCHDOG_PID"], owner != String(pid) { return nil }
    guard let text = environment["WATCHDOG_USEC"], text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let interval = Int64(text), interval > 0
    else { return nil }
    return interval
  }

  /// Microseconds between two words at least: a manager that wants them more often is no reason to do nothing else.
  private static let shortestPause: Int64 = 10_000

  /// Feeds, twice in each interval, until the task is cancelled. `proof` returns when the service has answered; while it
  /// has not, nothing is sent. `sleep` is that of the task, but for tests.
  package static func feed(
    every intervalMicroseconds: Int64, on loop: ServingLoop, notifier: ServiceNotifier,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    proof: @escaping @Sendable () async -> Void
  ) -> Task<Void, any Error> {
    Task {
      while true {
        await proof()
        await loop.run { _ in notifier.notify(.watchdog) }
        try await sleep(.microseconds(max(shortestPause, intervalMicroseconds / 2)))
      }
    }
  }
}
