import AgentWire

/// Callers who wait for the end of a login.
extension LoginCoordinator {
  typealias EndWaiter = CheckedContinuation<Result<LoginProgress, AgentFailure>, Never>

  /// How the login ends; how it stands after `seconds`.
  func ending(of id: String, seconds: Double) async -> Result<LoginProgress, AgentFailure> {
    lastWaiter += 1
    let waiter = lastWaiter
    return await withCheckedContinuation { continuation in
      guard let session = sessions[id] else {
        return continuation.resume(returning: .failure(AgentFailure(.badRequest, "there is no such login")))
      }
      if case .ended(let result) = session.state { return continuation.resume(returning: result) }
      waiters[id, default: Waiters()].add(continuation, waiter)
      waiters[id]?.limit(waiter, to: time.now().bootSeconds + seconds)
      watchTheClock()
    }
  }

  /// Sleeps until the first of those who wait has no patience left.
  private func watchTheClock() {
    let due = waiters.keys.compactMap { waiters[$0]?.firstDeadline() }.min()
    sleep.shorten(to: due, by: time, on: self) { $0.endPatience() }
  }

  private func endPatience() {
    sleep.cancel()
    let now = time.now().bootSeconds + SharedSleep.toleranceSeconds
    for id in waiters.keys {
      guard let progress = sessions[id]?.progress else { continue }
      for (waiter, continuation) in waiters[id]?.overdue(at: now) ?? [] {
        _ = waiters[id]?.take(waiter)
        continuation.resume(returning: .success(progress))
      }
    }
    watchTheClock()
  }

  func answerWaiters(_ id: String, _ result: Result<LoginProgress, AgentFailure>) {
    var answered = waiters.removeValue(forKey: id) ?? Waiters()
    for waiter in answered.takeAll() { waiter.resume(returning: result) }
    if waiters.isEmpty { sleep.cancel() }
  }
}
