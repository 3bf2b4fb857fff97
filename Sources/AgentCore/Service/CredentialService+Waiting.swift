import AgentWire

extension CredentialService {
  // MARK: For tokens

  /// Asks the state machine of `name`, and waits for its answer until the waiter's deadline.
  func wait(_ name: String, _ waiter: AccountStateMachine.Waiter) async -> Result<TokenWaiters.GivenToken, AgentFailure>
  {
    if let failure = await waitForTime(name, until: waiter.deadline) { return .failure(failure) }
    return await withCheckedContinuation { begin(name, waiter, .task($0)) }
  }

  /// `GrantRecord.loginID` of the login that `name` has now.
  func loginID(_ name: String) -> String? { accounts[name]?.machine.record?.grant?.loginID }

  /// Asks the state machine of `name`. The answer comes at once or later, but at the waiter's deadline at the latest.
  func begin(_ name: String, _ waiter: AccountStateMachine.Waiter, _ answered: TokenWaiters.Waiter.Answered) {
    let id = waiter.id
    tokenWaiters.add(TokenWaiters.Waiter(account: name, asked: waiter, answered: answered), id)
    guard accounts[name] != nil else { return answerWaiter(id, .failure(gone(name))) }
    event(name, .asked(waiter))
    guard tokenWaiters.contains(id) else { return }
    tokenWaiters.limit(id, to: waiter.deadline)
    watchTheClock()
  }

  /// A token has come for the waiter. It may be of before the wall clock moved, so it waits for the server's time, and is
  /// asked for once more then.
  func deliver(_ id: UInt64, _ token: TokenRecord, of name: String) {
    guard awaitsClock(name), var asked = tokenWaiters.asked(id) else { return answerWaiter(id, .success(token)) }
    asked.force = false
    Task {
      if let failure = await self.waitForTime(name, until: asked.deadline) {
        self.answerWaiter(id, .failure(failure))
      } else if self.tokenWaiters.contains(id) {
        if self.accounts[name] == nil { self.answerWaiter(id, .failure(self.gone(name))) }
        self.event(name, .asked(asked))
      }
    }
  }

  /// Tells the waiter, once.
  func answerWaiter(_ id: UInt64, _ result: Result<TokenRecord, AgentFailure>) {
    guard let waiter = tokenWaiters.take(id) else { return }
    switch waiter.answered {
    case .task(let continuation):
      let login = loginID(waiter.account)
      continuation.resume(returning: result.map { TokenWaiters.GivenToken(token: $0, login: login) })
    case .caller(let question, let meaning): answer(question, meaning, result, until: waiter.asked.deadline)
    }
  }

  /// Sleeps until the first of them has no patience left.
  private func watchTheClock() {
    tokenWaiters.watch(by: time, on: self) { $0.endPatience() }
  }

  /// The refresh that they wait for goes on.
  private func endPatience() {
    for (name, ids) in tokenWaiters.overdue(at: time.now().bootSeconds) {
      event(name, .timedOut(ids))
      // The machine may not know them any more, as after a lock.
      for id in ids { answerWaiter(id, .failure(awaitsClock(name) ? .clockIsAsked(name) : gone(name))) }
    }
    watchTheClock()
  }

  // MARK: For changes

  /// Makes a change durable.
  func change(_ name: String, _ change: AccountChange) async throws(AgentFailure) {
    // Of a newer vault in the place of this one the record is changed that counts, and not the one that it takes the place of.
    if change.isNews { await lookAtVault() }
    guard accounts[name] != nil else { throw gone(name) }
    let id = nextID()
    let failure = await withCheckedContinuation { continuation in
      waiters.changes.add(continuation, id)
      event(name, .changed(change, id))
    }
    if let failure { throw failure }
  }

  /// How the revocations ended that a logout has decided at `since` or later, those of refresh tokens first; waits
  /// `seconds` for them at most, and for none behind one that has to wait itself. `open` is how many have not ended.
  func revocations(
    _ name: String, since: Moment, seconds: Double
  ) async -> (ended: [(revocation: RevocationRecord, end: RevocationEnd)], open: Int) {
    func state() -> (ended: [(revocation: RevocationRecord, end: RevocationEnd)], open: Int) {
      let ended = (accounts[name]?.revoked ?? []).filter { $0.revocation.since.seconds(since: since) >= 0 }
      let open = (accounts[name]?.machine.record?.revocations ?? []).count { one in
        one.since.seconds(since: since) >= 0 && !ended.contains { $0.revocation == one }
      }
      return (ended, open)
    }
    let end = time.now().bootSeconds + seconds
    while state().open > 0, state().ended.allSatisfy(\.end.isFinal) {
      let left = end - time.now().bootSeconds
      guard left > 0 else { break }
      await wait(for: .revocation(name), seconds: left)
    }
    return state()
  }

  /// Returns when `event` has happened, or after `seconds`.
  func wait(for event: ServiceWaiters.Event, seconds: Double) async {
    let id = nextID()
    await withCheckedContinuation { continuation in
      let timer = Task {
        do {
          // What is under way is waited for longer where the whole machine slept.
          if event == .idle {
            try await self.sleepAwake(seconds: seconds)
          } else {
            try await self.time.sleep(seconds: seconds)
          }
        } catch { return }
        self.waiters.giveUp(id, event)
      }
      waiters.add(TimedWait(continuation: continuation, timer: timer), id, for: event)
    }
  }

  /// Why the account of a request is not there any more: a lock takes all of them out of memory.
  func gone(_ name: String) -> AgentFailure {
    isOpen ? AgentFailure(.accountUnknown, "\(name): the account is gone") : .vaultLocked
  }

  // MARK: Draining

  /// Sends nothing more, tells whoever waits, and returns when what is under way has ended and is durable, or after
  /// `seconds`. Tokens that are ready are served all the while.
  package func drain(seconds: Double) async {
    availability.stop()
    closeAll(nil)
    beginWork()
    Task {
      await self.lookAtVault()
      self.endWork()
    }
    await idle(seconds: seconds)
  }

  /// Takes back every wish to send, and tells whoever waits `failure`; without one, that the agent stops.
  func closeAll(_ failure: AgentFailure?) {
    emptyQueue()
    waiters.giveUpOnClocks()
    for account in accounts.values { event(account, .closed(failure)) }
  }

  /// Returns when nothing saves or sends any more, logins and revocations included, or after `seconds`.
  package func idle(seconds: Double) async {
    if !isIdle { await wait(for: .idle, seconds: seconds) }
  }

  /// Sleeps `seconds`. A sleep that ends late was one of the whole machine, or of a stopped process: what is waited for,
  /// whose answer may have come meanwhile, has a moment more then, eight times at most.
  private func sleepAwake(seconds: Double) async throws {
    var due = time.now().bootSeconds + seconds
    try await time.sleep(seconds: seconds)
    for _ in 1...8 where time.now().bootSeconds - due > Self.lateSeconds {
      due = time.now().bootSeconds + Self.restSeconds
      try await time.sleep(seconds: Self.restSeconds)
    }
  }

  /// A timer is late that fires so many seconds after its time: a busy machine delays one by less.
  private static let lateSeconds = 3.0
  /// Seconds of the moment more: longer than the ten that are left to a request after an interruption.
  private static let restSeconds = 15.0

  /// Whether nothing that holds a secret is on its way to a server, and no answer is on its way to the vault.
  var isIdle: Bool {
    // The end of a revocation is to be noted, too: it would be sent once more. A call that another one has overtaken may bring
    // the refresh token that its server keeps.
    underWay.isEmpty
      && accounts.values.allSatisfy { $0.machine.isIdle && $0.machine.revocationQueue.sending == nil }
  }

  /// A request begins that is no token call of an account and holds a secret: of a login, or to revoke a token.
  func beginWork() { underWay.beginOther() }

  /// It has ended, and what its answer gave is kept.
  func endWork() {
    underWay.endOther()
    resumeIfIdle()
  }

  /// Tokens of a login by the client `id` are asked for. Until they are kept, or revoked, that client is not deleted.
  func beginLogin(by id: String) { underWay.beginLogin(by: id) }

  func endLogin(by id: String) {
    underWay.endLogin(by: id)
    wakeDeletions(of: id)
    resumeIfIdle()
  }

  func resumeIfIdle() {
    if waiters.isAwaited(.idle), isIdle { waiters.happened(.idle) }
  }
}
