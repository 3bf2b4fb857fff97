import AgentWire
import TokenVault

/// What changes the vault, and what ends a login: a login under way is given up with it.
extension AgentRouter {
  func vaultStatus(_: VaultStatusRequest) async -> VaultStatusAnswer {
    try? await service.open()
    return await vaultStatus()
  }

  /// The state of the vault, once what another one in its place lacks is written to it; waits a few seconds for that at most.
  func vaultStatus() async -> VaultStatusAnswer {
    let status = await vault.status()
    // A vault that hangs answers nothing else.
    guard status.logLost == true || [.failed, .damaged].contains(status.state) else { return status }
    await service.lookAtVault(seconds: Self.replacementSeconds)
    return await vault.status()
  }

  private static let replacementSeconds = 5.0

  /// - Throws: `not_permitted` where a person was shown another vault: that of an agent of other folders, or one in whose place
  ///   this has come, or whose ways to open it have changed.
  private func check(_ shown: String?) async throws(AgentFailure) {
    guard let shown, case let now = await vaultStatus(), now.vaultDigest != shown else { return }
    throw AgentFailure(VaultError.otherThanShown(path: now.path))
  }

  func setSlot(_ request: VaultSetSlot) async throws(AgentFailure) -> VaultSlotsAnswer {
    try await check(request.vaultDigest)
    return try await vault.setSlot(request)
  }

  func removeSlot(_ request: VaultRemoveSlot) async throws(AgentFailure) -> VaultSlotsAnswer {
    try await check(request.vaultDigest)
    return try await vault.removeSlot(request)
  }

  func rekey(_ request: VaultRekey) async throws(AgentFailure) -> VaultSlotsAnswer {
    try await check(request.vaultDigest)
    return try await vault.rekey(request)
  }

  func backup(_: VaultBackup) async throws(AgentFailure) -> VaultBackupAnswer {
    await service.lookAtVault(seconds: Self.replacementSeconds)
    return try await vault.backup()
  }

  func checkVault(_ request: VaultCheck) async throws(AgentFailure) -> VaultCheckAnswer {
    await service.lookAtVault(seconds: Self.replacementSeconds)
    return try await vault.check(request)
  }

  func createVault(_ request: VaultCreate) async throws(AgentFailure) -> VaultCreateAnswer {
    try await check(request.vaultDigest)
    let code: String?
    if request.anew == true, await isLost() {
      code = try await service.beginAnew(vault, request)
      if code != nil { await logins.forgetAll() }
    } else {
      try await service.open()
      code = try await vault.create(VaultCreate(confirmsCode: request.confirmsCode))
    }
    return VaultCreateAnswer(created: code != nil, recoveryCode: code)
  }

  /// Whether nothing but a backup brings the vault back. One that is open is served from memory, whatever its file has become.
  private func isLost() async -> Bool {
    let status = await vault.status()
    guard status.state == .open else { return status.isLost }
    do throws(AgentFailure) { _ = try await vault.check(VaultCheck()) } catch { return error.kind == .vaultDamaged }
    return false
  }

  func unlockVault(_ request: VaultUnlock) async throws(AgentFailure) -> VaultStatusAnswer {
    try await service.unlock(vault, request)
    return await vault.status()
  }

  func lockVault(_: VaultLock) async throws(AgentFailure) -> VaultLockAnswer {
    await logins.forgetAll(isLast: false)
    let isDrained: Bool
    do throws(AgentFailure) { isDrained = try await service.lock(vault) } catch {
      if error.kind != .vaultInUse { await logins.forgetAll() }
      throw error
    }
    await logins.forgetAll()
    return VaultLockAnswer(
      state: await vault.status().state, sealed: await vault.isSealed(), drained: isDrained)
  }

  func logout(_ request: Logout) async throws(AgentFailure) -> LogoutAnswer {
    // Nothing is given up where nothing can be logged out.
    try await service.open()
    await logins.giveUp(request.account)
    return try await service.logout(request)
  }

  func forget(_ request: AccountForget) async throws(AgentFailure) -> AccountForgetAnswer {
    let kept = try await service.forget(AccountForget(account: request.account, dryRun: true))
    if request.dryRun == true { return kept }
    // The login under way of an account that is not forgotten goes on.
    guard request.isAbout(kept) else { throw .changedMeanwhile(request.account) }
    await logins.giveUp(request.account)
    return try await service.forget(request)
  }

  func acceptRollback(_ request: VaultAcceptRollback) async throws(AgentFailure) -> VaultStatusAnswer {
    try await check(request.vaultDigest)
    try await service.acceptRollback(vault, request)
    return await vault.status()
  }
}
