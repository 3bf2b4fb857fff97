import AgentWire

extension CredentialService {
  /// Makes a change durable.
  func change(_ name: String, _ change: AccountChange) async throws(AgentFailure) {
    guard accounts[name] != nil else { throw gone(name) }
    let id = nextID()
    let failure = await withCheckedContinuation { continuation in
      changeWaiters.add(continuation, id)
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
      await revocationStep(name, seconds: left)
    }
    return state()
  }

  /// Returns when some revocation of the account ended, or after `seconds`.
  private func revocationStep(_ name: String, seconds: Double) async {
    let id = nextID()
    await withCheckedContinuation { continuation in
      let timer = Task {
        do { try await self.time.sleep(seconds: seconds) } catch { return }
        self.revocationWaiters[name]?.answer(id)
      }
      revocationWaiters[name, default: Waiters()].add(PatientTask(continuation: continuation, timer: timer), id)
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
    isDraining = true
    closeAll(nil)
    await idle(seconds: seconds)
  }

  /// Neither sends anything any more: it is locked, or stops.
  var isClosed: Bool { isDraining || isLocked }

  /// Takes back every wish to send, and tells whoever waits `failure`; without one, that the agent stops.
  func closeAll(_ failure: AgentFailure?) {
    emptyQueue()
    clockWaiters.answerAll()
    for account in accounts.values { event(account, .closed(failure)) }
  }

  /// Returns when nothing saves or sends any more, logins and revocations included, or after `seconds`.
  package func idle(seconds: Double) async {
    if isIdle { return }
    let id = nextID()
    await withCheckedContinuation { continuation in
      let timer = Task {
        do { try await self.sleepAwake(seconds: seconds) } catch { return }
        self.idleWaiters.answer(id)
      }
      idleWaiters.add(PatientTask(continuation: continuation, timer: timer), id)
    }
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
  var isIdle: Bool { workUnderWay == 0 && accounts.values.allSatisfy(\.machine.isIdle) }

  /// A request begins that is no token call of an account and holds a secret: of a login, or to revoke a token.
  func beginWork() { workUnderWay += 1 }

  /// It has ended, and what its answer gave is kept.
  func endWork() {
    workUnderWay -= 1
    resumeIfIdle()
  }

  func resumeIfIdle() {
    if !idleWaiters.isEmpty, isIdle { idleWaiters.answerAll() }
  }
}
