/// A task that waits for an event, and the timer that ends the wait.
struct TimedWait: Sendable {
  let continuation: CheckedContinuation<Void, Never>
  let timer: Task<Void, Never>
}

extension Waiters<TimedWait> {
  mutating func answer(_ id: UInt64) {
    if let waiter = take(id) { Self.resume(waiter) }
  }

  mutating func answerAll() { takeAll().forEach(Self.resume) }

  private static func resume(_ waiter: TimedWait) {
    waiter.timer.cancel()
    waiter.continuation.resume()
  }
}
