package import AgentCore
import Glibc
import SystemFacts

/// The machine's clocks. Sleeping counts suspend (CLOCK_BOOTTIME).
///
/// Who sleeps is woken by the loop. `Task.sleep` would do, but keeps 600 bytes of a cancelled sleep until its time has
/// come: an agent cancels some for each refresh, the plan's hours ahead.
package struct SystemTime: TimeKeeper {
  private let bootID: String
  private let loop: ServingLoop
  private let alarm: LoopBound<BootAlarm>

  /// Throws the errno when the process has no descriptor left.
  package static func start(on loop: ServingLoop) async throws(UnixSocket.Errno) -> SystemTime {
    let alarm: Result<LoopBound<BootAlarm>, UnixSocket.Errno> = await loop.run { queue in
      BootAlarm(queue: queue).map { .success(LoopBound($0, queue)) } ?? .failure(UnixSocket.Errno(errno))
    }
    return SystemTime(bootID: readBootID(), loop: loop, alarm: try alarm.get())
  }

  package func now() -> Moment {
    Moment(bootID: bootID, bootSeconds: BootClock.seconds(), wallSeconds: Self.wallSeconds())
  }

  package func sleep(seconds: Double) async throws {
    guard seconds > 0 else { return try Task.checkCancellation() }
    // A day at most, so that no arithmetic overflows; whoever wakes early looks at the clock and sleeps again.
    let due = BootClock.seconds() + min(seconds, 86_400)
    let sleeper = Sleeper()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        guard sleeper.begin(continuation) else { return }
        loop.execute { queue in
          if !sleeper.isOver { alarm.value(on: queue).set(sleeper.id, due: due) { sleeper.end(.success(())) } }
        }
      }
    } onCancel: {
      sleeper.end(.failure(CancellationError()))
      loop.execute { queue in alarm.value(on: queue).cancel(sleeper.id) }
    }
  }

  /// How many sleep.
  func sleeperCount() async -> Int { await loop.run { alarm.value(on: $0).count } }

  private static func wallSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
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
