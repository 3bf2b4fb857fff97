package import AgentCore
import Synchronization

/// Time that moves only when a test says so. Sleepers wake in the order of their times.
package final class ManualClock: TimeKeeper {
  private struct Sleeper {
    var until: Double
    var continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var boot: Double
    var wallOffset: Double
    var bootID = "boot-1"
    var sleepers: [UInt64: Sleeper] = [:]
    var lastID: UInt64 = 0
  }

  private let state: Mutex<State>

  /// Boot time starts at `bootSeconds`, wall time at `wallSeconds`.
  package init(bootSeconds: Double = 1_000, wallSeconds: Double = 1_700_000_000) {
    state = Mutex(State(boot: bootSeconds, wallOffset: wallSeconds - bootSeconds))
  }

  package func now() -> Moment {
    state.withLock { Moment(bootID: $0.bootID, bootSeconds: $0.boot, wallSeconds: $0.boot + $0.wallOffset) }
  }

  package func sleep(seconds: Double) async throws {
    guard seconds > 0 else { return try Task.checkCancellation() }
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isOver = state.withLock { state in
          if Task.isCancelled { return true }
          state.sleepers[id] = Sleeper(until: state.boot + max(0, seconds), continuation: continuation)
          return false
        }
        if isOver { continuation.resume(throwing: CancellationError()) }
      }
    } onCancel: {
      let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Moves both clocks on and wakes who is due.
  package func advance(by seconds: Double) { advance { $0 + seconds } }

  /// Moves both clocks on until boot time is `bootSeconds`. To wake a sleeper at its very moment, use this: the sum of
  /// now and what is missing may be rounded to less than the moment.
  package func advance(to bootSeconds: Double) { advance { max($0, bootSeconds) } }

  private func advance(_ moved: (Double) -> Double) {
    let due = state.withLock { state in
      state.boot = moved(state.boot)
      let due = state.sleepers.filter { $0.value.until <= state.boot }
      for id in due.keys { state.sleepers[id] = nil }
      return due.values.sorted { $0.until < $1.until }
    }
    for sleeper in due { sleeper.continuation.resume() }
  }

  /// Sets the wall clock, as a user would; boot time goes on.
  package func setWall(_ seconds: Double) { state.withLock { $0.wallOffset = seconds - $0.boot } }

  /// Another boot of the machine: boot time starts anew, wall time has moved on by `wallSeconds`.
  package func reboot(after wallSeconds: Double) {
    state.withLock { state in
      let wall = state.boot + state.wallOffset + wallSeconds
      state.bootID += "'"
      state.boot = 10
      state.wallOffset = wall - state.boot
    }
  }

  /// Boot times at which somebody wants to be woken, soonest first.
  package var wakes: [Double] { state.withLock { $0.sleepers.values.map(\.until).sorted() } }
}
