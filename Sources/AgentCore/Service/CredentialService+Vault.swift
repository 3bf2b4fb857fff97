package import AgentWire
import Logging
import OAuthTerms
import TokenVault

/// Locking: nothing secret is left in memory, nobody is given anything, nothing is sent any more, and nothing that a
/// server has given is lost.
extension CredentialService {
  /// The user takes the vault as it is for the truth: refreshes go on.
  package func acceptRollback() {
    availability.rollback = nil
    for account in accounts.values { account.handle(.rolledBack(from: nil), at: time.now()) }
    wakeSoon(accounts.keys)
  }

  /// Seconds that a lock waits for token requests under way: until the last helper has ended, which is killed three
  /// seconds after its time is over at the latest. So none sends anything after the answer.
  package static let lockDrainSeconds = Double(TokenEndpoint.refreshTimeoutMilliseconds) / 1_000 + 4

  /// Locks the agent and then `vault`. From its first step on every caller is answered `vault_locked`, and nothing that
  /// was not sent is sent any more; what has been sent to a server is waited for and made durable, a minute at most.
  /// Returns false when that was not enough.
  ///
  /// Callers that come together share one lock. Throws what kept the vault from remembering it; everything is
  /// forgotten all the same, except where another agent holds the vault.
  package func lock(_ vault: any VaultControl) async throws(AgentFailure) -> Bool {
    while let beginning = availability.beginning { _ = await beginning.value }
    let task = availability.locking ?? Task { await self.lockAlone(vault) }
    availability.locking = task
    return try await task.value.get()
  }

  private func lockAlone(_ vault: any VaultControl) async -> Result<Bool, AgentFailure> {
    defer { availability.locking = nil }
    availability.lock()
    ready.removeAll()
    closeAll(.vaultLocked)
    var failure: AgentFailure?
    do throws(AgentFailure) { try await vault.hold() } catch {
      guard error.kind != .vaultInUse else {
        availability.unlock()
        for account in accounts.values {
          account.handle(.reopened, at: time.now())
          publish(account.name)
        }
        goOnAsking()
        wakeSoon(accounts.keys)
        return .failure(error)
      }
      failure = error
    }
    await lookAtVault()
    await idle(seconds: Self.lockDrainSeconds)
    underWay.lateAnswerStore = await store.lateAnswerStore
    let isDrained = isIdle && accounts.values.allSatisfy { $0.machine.unsaved == nil }
    forgetAll()
    do throws(AgentFailure) { try await vault.lock() } catch { failure = failure ?? error }
    // Without a vault there is nothing to be locked. One that could not be taken hold of is not: whoever asks is told why, as
    // before.
    let state = await vault.status().state
    if state == .absent || failure != nil && [.open, .failed].contains(state) { availability.unlock() }
    tellServing()
    logger.notice("locked", metadata: ["event": "locked", "drained": "\(isDrained)"])
    if let failure { return .failure(failure) }
    return .success(isDrained)
  }

  private func forgetAll() {
    plan.clear()
    emptyQueue()
    for ticket in accounts.values.flatMap(\.places.values) { places.release(ticket) }
    ready.clockIsTold(to: accounts.keys)
    accounts = [:]
    ready.forgetHosts()
    files.forgetAccounts()
    servers = KnownServers()
    clocks.forgetDoubts()
    borrowers = [:]
    livingLogins = [:]
    told.forgetAccounts()
    waiters.loseAccounts()
    ready.removeAll()
    close()
  }

  /// Why the vault could not be unlocked when somebody tried last.
  package var unlockFailure: AgentFailure? { availability.unlockFailure }

  /// Opens `vault` with what a person gave, and then everything that is in it.
  package func unlock(_ vault: any VaultControl, _ request: VaultUnlock) async throws(AgentFailure) {
    await settled()
    if request.dryRun == true { return try await vault.unlock(request) }
    do throws(AgentFailure) { try await vault.unlock(request) } catch {
      availability.unlockFailed(error)
      throw error
    }
    availability.unlock()
    logger.notice("unlocked", metadata: ["event": "unlocked"])
    try await open()
  }

  /// Makes a vault in the place of one that is gone, and then lets go of everything that was in that. Returns the
  /// recovery code of the new one; nil: there is one already, or again, and nothing is forgotten.
  ///
  /// One at a time. When it throws, everything is as before.
  package func beginAnew(
    _ vault: any VaultControl, _ request: VaultCreate
  ) async throws(AgentFailure) -> String? {
    await settled()
    let task = Task { await self.makeAnew(vault, request) }
    availability.beginning = task
    return try await task.value.get()
  }

  private func makeAnew(_ vault: any VaultControl, _ request: VaultCreate) async -> Result<String?, AgentFailure> {
    await withCheckedContinuation { writes.hold($0) }
    var result: Result<String?, AgentFailure>
    do throws(AgentFailure) { result = .success(try await vault.create(request)) } catch { result = .failure(error) }
    guard case .success(.some) = result else {
      availability.beginning = nil
      for waiting in writes.release() { write(waiting.account, waiting.write) }
      return result
    }
    logger.notice("a new vault in place of one that is gone", metadata: ["event": "vault_anew"])
    closeAll(.vaultLocked)
    forgetAll()
    _ = writes.release()
    availability.unlock()
    availability.beginning = nil
    // One that cannot be read yet is opened by the next request; its recovery code is told now or never.
    try? await open()
    return result
  }

  /// Returns when the vault is neither locked nor replaced at the moment.
  private func settled() async {
    while availability.locking != nil || availability.beginning != nil {
      if let locking = availability.locking { _ = await locking.value }
      if let beginning = availability.beginning { _ = await beginning.value }
    }
  }

  /// Takes a vault that was put back for the truth: refreshes go on.
  package func acceptRollback(_ vault: any VaultControl, _ request: VaultAcceptRollback) async throws(AgentFailure) {
    try await open()
    await lookAtVault()
    try await vault.acceptRollback(request)
    if availability.rollback != nil {
      logger.notice("the older vault is accepted", metadata: ["event": "rollback_accepted"])
    }
    acceptRollback()
  }

  /// The accounts as their files define them, for a vault that is shut: no key is needed to tell their names. Of a file that
  /// cannot be used the name is all there is.
  func lockedSummaries(_ reason: String) async -> [AccountSummary] {
    let read = await readFiles()
    let defined = read.definitions.map { definition in
      var summary = AccountSummary(
        account: definition.name, accountID: nil, state: .locked, reason: reason, issuer: definition.issuer,
        host: definition.host, hosts: definition.origins, clientID: definition.clientID,
        grant: definition.grant.rawValue, scope: definition.scope, expiresAt: nil, expiresInSeconds: nil,
        loginExpiresAt: nil, renewable: false, retryAfterMilliseconds: nil, gitUsername: definition.gitUsername,
        certificateAuthorityFile: definition.certificateAuthorityFile)
      summary.dpop = definition.usesDPoP ? true : nil
      return summary
    }
    var names = Set(defined.map(\.account))
    return defined
      + read.problems.compactMap { problem in
        guard let name = problem.accountName, names.insert(name).inserted else { return nil }
        return AccountSummary(
          account: name, accountID: nil, state: .configInvalid, reason: problem.sentence, issuer: "", host: "",
          hosts: [],
          clientID: "", grant: "", scope: [], expiresAt: nil, expiresInSeconds: nil, loginExpiresAt: nil,
          renewable: false, hint: problem.nextStep)
      }
  }
}
