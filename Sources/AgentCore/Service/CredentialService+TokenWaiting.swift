import AgentWire

/// Waiting for tokens. One sleep serves everybody's patience: a sleeping task each would take more memory than all else of
/// one who waits.
extension CredentialService {
  /// Somebody who waits for a token.
  struct TokenWaiter: Sendable {
    enum Answered: Sendable {
      case task(CheckedContinuation<Result<TokenRecord, AgentFailure>, Never>)
      case caller(RequestID, Choice, @Sendable (TokenReply) -> Void)
    }

    let account: String
    let answered: Answered
  }

  /// The reply that was made last. It lives as long as somebody is still to be sent it.
  struct MadeReply {
    struct Key: Equatable {
      let account: String
      let fingerprint: Fingerprint
    }

    var key: Key?
    weak var token: ReadyToken?
  }

  /// The sleep until the first of them has no patience left.
  struct TokenSleep {
    /// Boot seconds.
    let until: Double
    let task: Task<Void, Never>
  }

  /// Asks the state machine of `name`, and waits for its answer until the waiter's deadline.
  func wait(_ name: String, _ waiter: AccountStateMachine.Waiter) async -> Result<TokenRecord, AgentFailure> {
    await withCheckedContinuation { begin(name, waiter, .task($0)) }
  }

  /// Asks the state machine of `name`. The answer comes at once or later, but at the waiter's deadline at the latest.
  func begin(_ name: String, _ waiter: AccountStateMachine.Waiter, _ answered: TokenWaiter.Answered) {
    let id = waiter.id
    tokenWaiters.add(TokenWaiter(account: name, answered: answered), id)
    guard accounts[name] != nil else { return answerWaiter(id, .failure(gone(name))) }
    event(name, .asked(waiter))
    guard tokenWaiters.contains(id) else { return }
    tokenWaiters.limit(id, to: waiter.deadline)
    watchTheClock()
  }

  /// Tells the waiter, once.
  func answerWaiter(_ id: UInt64, _ result: Result<TokenRecord, AgentFailure>) {
    guard let waiter = tokenWaiters.take(id) else { return }
    if tokenWaiters.isEmpty {
      tokenSleep?.task.cancel()
      tokenSleep = nil
    }
    switch (waiter.answered, result) {
    case (.task(let continuation), _): continuation.resume(returning: result)
    case (.caller(let id, let choice, let reply), .success(let token)):
      reply(self.reply(token, choice, to: id))
    case (.caller(let id, _, let reply), .failure(let failure)): refuse(id, failure, reply)
    }
  }

  /// Sleeps until the first of them has no patience left.
  private func watchTheClock() {
    guard let due = tokenWaiters.firstDeadline(), due < tokenSleep?.until ?? .infinity else { return }
    tokenSleep?.task.cancel()
    let seconds = max(0, due - time.now().bootSeconds)
    let task = Task {
      do { try await self.time.sleep(seconds: seconds) } catch { return }
      if !Task.isCancelled { self.endPatience() }
    }
    tokenSleep = TokenSleep(until: due, task: task)
  }

  /// The refresh that they wait for goes on.
  private func endPatience() {
    tokenSleep = nil
    let now = time.now().bootSeconds + 0.001
    var over: [String: Set<UInt64>] = [:]
    for (id, waiter) in tokenWaiters.overdue(at: now) { over[waiter.account, default: []].insert(id) }
    for (name, ids) in over {
      event(name, .timedOut(ids))
      // The machine may not know them any more, as after a lock.
      for id in ids { answerWaiter(id, .failure(gone(name))) }
    }
    watchTheClock()
  }
}
