import AgentWire

/// Callers who wait for the end of a login.
extension LoginCoordinator {
  typealias EndWaiter = CheckedContinuation<Result<LoginProgress, AgentFailure>, Never>

  /// The same as ``ending(of:seconds:)`` for a caller who may go meanwhile.
  func endingUnlessLeft(of id: String, seconds: Double) async -> Result<LoginProgress, AgentFailure> {
    let waiter = nextWaiter()
    return await withTaskCancellationHandler {
      await ending(of: id, seconds: seconds, waiter)
    } onCancel: {
      Task { await self.leave(id, waiter) }
    }
  }

  /// A login that somebody has left goes on for whoever joins it. Where nobody waits any more, it makes place for one with
  /// other wishes.
  private func leave(_ id: String, _ waiter: UInt64) {
    guard let progress = sessions[id]?.progress, let continuation = waiters[id]?.take(waiter) else { return }
    continuation.resume(returning: .success(progress))
    if !isWaitedFor(id) { sessions[id]?.wasLeft = true }
  }

  func isWaitedFor(_ id: String) -> Bool { waiters[id]?.isEmpty == false }

  func noteHeard(_ id: String) { sessions[id]?.lastHeard = time.now().bootSeconds }

  func isDeserted(_ session: LoginSession) -> Bool {
    session.isDeserted(at: time.now().bootSeconds, isWaitedFor: isWaitedFor(session.id))
  }

  private func nextWaiter() -> UInt64 {
    lastWaiter += 1
    return lastWaiter
  }

  /// How the login ends; how it stands after `seconds`.
  func ending(of id: String, seconds: Double) async -> Result<LoginProgress, AgentFailure> {
    await ending(of: id, seconds: seconds, nextWaiter())
  }

  private func ending(
    of id: String, seconds: Double, _ waiter: UInt64
  ) async -> Result<LoginProgress, AgentFailure> {
    await withCheckedContinuation { continuation in
      guard let session = sessions[id] else {
        return continuation.resume(returning: .failure(AgentFailure(.badRequest, "there is no such login")))
      }
      if case .ended(let result) = session.state { return continuation.resume(returning: result) }
      sessions[id]?.wasLeft = false
      noteHeard(id)
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
        noteHeard(id)
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
