import AgentWire

/// Waiting for tokens.
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
    if tokenWaiters.isEmpty { tokenSleep.cancel() }
    switch (waiter.answered, result) {
    case (.task(let continuation), _): continuation.resume(returning: result)
    case (.caller(let id, let choice, let reply), .success(let token)):
      reply(self.reply(token, choice, to: id))
    case (.caller(let id, _, let reply), .failure(let failure)): refuse(id, failure, reply)
    }
  }

  /// Sleeps until the first of them has no patience left.
  private func watchTheClock() {
    let due = tokenWaiters.firstDeadline()
    tokenSleep.shorten(to: due, by: time, on: self) { $0.endPatience() }
  }

  /// The refresh that they wait for goes on.
  private func endPatience() {
    tokenSleep.cancel()
    let now = time.now().bootSeconds + SharedSleep.toleranceSeconds
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
