import AgentWire

extension CredentialService {
  /// Makes a change durable.
  func change(_ name: String, _ change: AccountChange) async throws(AgentFailure) {
    guard accounts[name] != nil else { throw Self.gone(name) }
    let id = nextID()
    let failure = await withCheckedContinuation { continuation in
      changeWaiters[id] = continuation
      event(name) { machine, now in machine.change(change, id: id, at: now) }
    }
    if let failure { throw failure }
  }

  /// How the revocation ended that a logout has decided at `since` or later; waits `seconds` for it at most.
  func revocation(_ name: String, since: Moment, seconds: Double) async -> RevocationEnd? {
    func ended() -> RevocationEnd? {
      accounts[name]?.revoked.flatMap { $0.since.seconds(since: since) >= 0 ? $0.end : nil }
    }
    let end = time.now().bootSeconds + seconds
    while ended() == nil, accounts[name]?.machine.record?.revocations.isEmpty == false {
      let left = end - time.now().bootSeconds
      guard left > 0 else { break }
      await revocationStep(name, seconds: left)
    }
    return ended()
  }

  /// Returns when some revocation of the account ended, or after `seconds`.
  private func revocationStep(_ name: String, seconds: Double) async {
    let id = nextID()
    await withCheckedContinuation { continuation in
      let timer = Task {
        do { try await self.time.sleep(seconds: seconds) } catch { return }
        self.revocationWaiters[name]?.removeValue(forKey: id)?.resume(())
      }
      revocationWaiters[name, default: [:]][id] = Waiting(continuation: continuation, timer: timer)
    }
  }

  static func gone(_ name: String) -> AgentFailure {
    AgentFailure(.accountUnknown, "\(name): the account is gone")
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
    for account in accounts.values { event(account) { machine, now in machine.close(failure, at: now) } }
  }

  /// Returns when no account saves or sends, or after `seconds`.
  package func idle(seconds: Double) async {
    if isIdle { return }
    let id = nextID()
    await withCheckedContinuation { continuation in
      let timer = Task {
        do { try await self.sleepAwake(seconds: seconds) } catch { return }
        self.idleWaiters.removeValue(forKey: id)?.resume(())
      }
      idleWaiters[id] = Waiting(continuation: continuation, timer: timer)
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

  /// A timer is late that fires so long after its time.
  private static let lateSeconds = 3.0
  /// More than the rest that is left to a request then.
  private static let restSeconds = 15.0

  private var isIdle: Bool { accounts.values.allSatisfy(\.machine.isIdle) }

  func resumeIfIdle() {
    guard !idleWaiters.isEmpty, isIdle else { return }
    let waiting = idleWaiters.values
    idleWaiters = [:]
    for waiter in waiting { waiter.resume(()) }
  }
}
