import Synchronization

/// One reading at a time for all who ask.
///
/// Whoever comes while one is under way shares the next: what is to be read may have been written since that one began.
/// A reading that nobody waits for any more is given up, or not begun.
final class SharedReading<Answer: Sendable>: Sendable {
  private typealias Waiter = CheckedContinuation<Answer?, Never>

  private struct State {
    var lastID: UInt64 = 0
    var isReading = false
    /// Who waits for the reading that is under way, and who for the next.
    var served: [UInt64: Waiter] = [:]
    var waiting: [UInt64: Waiter] = [:]
  }

  /// `isWanted` says whether anybody still waits for this reading; an answer that nobody waits for goes nowhere.
  typealias Reader = @Sendable (_ isWanted: @escaping @Sendable () -> Bool) async -> Answer

  private let state = Mutex(State())

  /// Those who wait for the next reading.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// What `read` found that began after this was called; nil: the calling task was cancelled.
  func answer(_ read: @escaping Reader) async -> Answer? {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { (waiter: Waiter) in
        let isCancelled = state.withLock { state in
          // Whoever leaves from here on is found in the table.
          guard !Task.isCancelled else { return true }
          state.waiting[id] = waiter
          if !state.isReading {
            state.isReading = true
            Task { await self.readOn(read) }
          }
          return false
        }
        if isCancelled { waiter.resume(returning: nil) }
      }
    } onCancel: {
      let left = state.withLock { state in
        state.waiting.removeValue(forKey: id) ?? state.served.removeValue(forKey: id)
      }
      left?.resume(returning: nil)
    }
  }

  /// Reads until nobody waits.
  private func readOn(_ read: Reader) async {
    while beginsNext() {
      let answer = await read { self.state.withLock { !$0.served.isEmpty } }
      let served = state.withLock { state in
        defer { state.served = [:] }
        return state.served
      }
      for waiter in served.values { waiter.resume(returning: answer) }
    }
  }

  private func beginsNext() -> Bool {
    state.withLock { state in
      state.served = state.waiting
      state.waiting = [:]
      state.isReading = !state.served.isEmpty
      return state.isReading
    }
  }
}
