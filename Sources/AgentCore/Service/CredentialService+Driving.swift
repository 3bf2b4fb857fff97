import AgentWire
import FoundationEssentials
import Logging
import Sealing
import TokenVault

extension CredentialService {
  /// Feeds one event to the state machine of `name`, and performs what it wants done.
  func event(_ name: String, _ body: (inout AccountStateMachine) -> [AccountStateMachine.Action]) {
    takeHolds(name)
    guard let actions = accounts[name]?.drive(body) else { return }
    let left = noteProbes(name)
    perform(actions, name)
    for route in left { serverChanged(route, but: name) }
  }

  /// Performs actions in order, and sets the account's next wake.
  private func perform(_ actions: [AccountStateMachine.Action], _ name: String) {
    for action in actions {
      switch action {
      case .save(let record): save(record, name)
      case .erase: erase(name)
      case .send(let call): send(call, name)
      case .revoke(let revocation, let secret): revoke(revocation, secret, name)
      case .publish: publish(name)
      case .deliver(let id, let token): tokenWaiters.removeValue(forKey: id)?.resume(.success(token))
      case .refuse(let id, let failure): tokenWaiters.removeValue(forKey: id)?.resume(.failure(failure))
      case .changed(let id, let failure): changeWaiters.removeValue(forKey: id)?.resume(returning: failure)
      }
    }
    reschedule(name)
    resumeIfIdle()
  }

  // MARK: Actions

  private func save(_ record: AccountRecord, _ name: String) {
    guard let id = accounts[name]?.id else { return }
    let version = (accounts[name]?.version ?? 0) + 1
    accounts[name]?.version = version
    let payload: Secret
    do { payload = Secret(try JSONEncoder().encode(record)) } catch {
      let failure = AgentFailure(.internal, "\(name): its record cannot be written down")
      Task { self.saveEnded(name, failure) }
      return
    }
    let stored = VaultRecord(id: id, version: version, payload: payload)
    let isOnlyCopy = accounts[name]?.machine.isSavingRotation ?? false
    Task { self.saveEnded(name, await self.put(stored, isOnlyCopy: isOnlyCopy)) }
  }

  private nonisolated func put(_ record: VaultRecord, isOnlyCopy: Bool) async -> AgentFailure? {
    do {
      try await store.put(record)
      return nil
    } catch {
      if isOnlyCopy {
        do throws(VaultError) { try await store.spill(record) } catch {
          logger.error("nor could it be kept aside", metadata: ["reason": "\(AgentFailure(error).message)"])
        }
      }
      return AgentFailure(error)
    }
  }

  private func erase(_ name: String) {
    guard let id = accounts[name]?.id else { return }
    Task { self.saveEnded(name, await self.delete(id)) }
  }

  private nonisolated func delete(_ id: RecordID) async -> AgentFailure? {
    do {
      try await store.delete(id)
      return nil
    } catch { return AgentFailure(error) }
  }

  private func saveEnded(_ name: String, _ failure: AgentFailure?) {
    // The first to know that a disk is full, or has room again.
    tellVault()
    let now = now(name)
    if let failure {
      logger.error(
        "a record could not be saved",
        metadata: ["event": "storage_failed", "account": "\(name)", "reason": "\(failure.message)"])
      event(name) { $0.saveFailed(failure, at: now, random: random.fraction()) }
    } else {
      event(name) { $0.saved(at: now, random: random.fraction()) }
    }
  }

  private func send(_ call: TokenCall, _ name: String) {
    if case .until(_, _, let reason) = servers[ServerRoute(call.binding)]?.circuit.hold(for: name) {
      // Found dead while the intent was being saved.
      Task { self.callEnded(name, call, .notTried(reason)) }
      return
    }
    logger.info(
      "asking for a token",
      metadata: ["event": "token_asked", "account": "\(name)", "issuer": "\(call.binding.issuer)"])
    // Not a child of anything: a caller that leaves, or a login that ends, never takes an answer with it.
    Task { self.callEnded(name, call, await self.tokenEndpoint.perform(call, now: call.started)) }
  }

  private func callEnded(_ name: String, _ call: TokenCall, _ end: TokenCallEnd) {
    heard(end, to: call, for: name)
    let now = now(name)
    // Told to the log afterwards: until an answer is saved, a kill loses what it carries.
    event(name) { $0.callEnded(end, at: now, random: random.fraction()) }
    logger.info(
      "\(end.logLine)",
      metadata: [
        "event": end.isGranted ? "token_granted" : "token_failed", "account": "\(name)",
        "issuer": "\(call.binding.issuer)",
      ])
  }

  private func revoke(_ revocation: RevocationRecord, _ secret: Secret?, _ name: String) {
    Task {
      let end = await TokenEndpoint(transport: self.heardTransport(for: name))
        .revoke(revocation, clientSecret: secret, now: self.time.now())
      self.revocationEnded(name, revocation, end)
    }
  }

  private func revocationEnded(_ name: String, _ revocation: RevocationRecord, _ end: RevocationEnd) {
    accounts[name]?.revoked = (revocation.since, end)
    let now = now(name)
    event(name) { $0.revocationEnded(revocation, end, id: nextID(), at: now, random: random.fraction()) }
    for waiting in (revocationWaiters.removeValue(forKey: name) ?? [:]).values { waiting.resume(()) }
  }

  func publish(_ name: String) {
    guard !isLocked, let account = accounts[name], let definition = account.machine.definition,
      let token = account.machine.ready.first(where: { $0.key == .standard }),
      token.accessToken.secret.withBytes(TokenAnswerFrame.canCarry)
    else { return ready.set(nil, for: name) }
    let frame = TokenAnswerFrame(
      TokenAnswerFrame.Fields(
        tokenType: token.tokenType, scope: token.scope, account: name, accountID: account.id.description,
        fingerprint: token.fingerprint.description, gitUsername: definition.gitUsername))
    ready.set(
      ReadyToken(
        accessToken: token.accessToken.secret, frame: frame, endBootSeconds: token.endBootSeconds(at: now(name)),
        defaultMinimumValidity: RefreshPlan.defaultMinimumValidity(lifeSeconds: token.lifeSeconds)),
      for: name)
  }
}

extension RandomSource {
  /// A random number in 0..<1, for jitter.
  func fraction() -> Double {
    let bytes = bytes(4)
    return bytes.reduce(0.0) { $0 * 256 + Double($1) } / 4_294_967_296
  }
}

extension TokenCallEnd {
  var isGranted: Bool {
    if case .answered(let answer) = self, case .granted = answer.verdict { true } else { false }
  }

  /// One line for the log, without secrets.
  var logLine: String {
    switch self {
    case .notTried(let reason), .notSent(let reason): "nothing was sent: \(reason)"
    case .sentNoAnswer(let reason): "sent, and no whole answer came: \(reason)"
    case .answered(let answer):
      switch answer.verdict {
      case .granted: "a token was granted"
      case .grantRefused(let error, _), .clientRefused(let error, _), .refused(let error, _): "refused: \(error)"
      case .refusedWithoutReason(let reason), .undecided(let reason, _): reason
      }
    }
  }
}
