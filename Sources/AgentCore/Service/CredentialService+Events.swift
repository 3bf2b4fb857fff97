import AgentWire

/// Sending what changed.
extension CredentialService {
  /// Subscribers know everything as it is now: only what changes from here on is an event.
  func beginTelling(_ vault: any VaultControl) async {
    try? await open()
    for name in accounts.keys {
      if told[name] == nil { told.note(name, telling(name)) }
      // The end of its token is an event too.
      if let account = accounts[name] { reschedule(account) }
    }
    told.follow(vault)
    tell(await vault.status())
  }

  /// Sends `name` if it differs from what was sent last.
  func tell(_ name: String) {
    index.note(name)
    guard events.isFollowed else { return told.endFollowing() }
    // While a vault opens or locks, only its own state is sent, and no account's.
    guard availability.isServing, told.note(name, telling(name)) else { return }
    let summary = summary(name)
    events.tell(.account(name, state: summary?.state, reason: summary?.reason, expiresAt: summary?.expiresAt))
  }

  /// Asks the vault for its state, and sends a change. One look after the other, so that the last one sent is the latest.
  func tellVault() {
    guard events.isFollowed, let vault = told.followedVault else { return }
    told.look {
      let status = await vault.status()
      await self.lookedAt(status)
    }
  }

  /// Whoever was subscribed may have left meanwhile.
  private func lookedAt(_ status: VaultStatusAnswer) { if told.knowsVault { tell(status) } }

  private func tell(_ status: VaultStatusAnswer) {
    if told.note(status) { events.tell(.vault(status.state, reason: status.reason)) }
  }

  /// The boot time at which the account's token ends, when that is to come and somebody wants to know.
  func toldEnd(_ name: String, at now: Moment) -> Double? {
    guard events.isFollowed,
      let end = accounts[name]?.machine.record?.token(.standard)?.endBootSeconds(at: now), end > now.bootSeconds
    else { return nil }
    return end
  }

  func telling(_ name: String) -> ToldState.Account? {
    summary(name).map { summary in
      ToldState.Account(
        state: summary.state, reason: summary.reason,
        fingerprint: accounts[name]?.machine.record?.token(.standard)?.fingerprint.description)
    }
  }
}
