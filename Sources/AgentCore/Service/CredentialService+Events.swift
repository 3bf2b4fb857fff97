import AgentWire

/// Sending what changed. What was sent last is kept only while somebody is subscribed; the present state is compared with it,
/// so it does no harm to look once too often.
extension CredentialService {
  /// What is sent about an account. The token's end is left out: it is computed each time, and may differ by a second.
  struct Told: Equatable {
    var state: AccountSummary.State
    var reason: String?
    var fingerprint: String?
  }

  /// Subscribers know everything as it is now: only what changes from here on is an event.
  func beginTelling(_ vault: any VaultControl) async {
    try? await open()
    for name in accounts.keys {
      if told[name] == nil { told[name] = telling(name) }
      // The end of its token is an event too.
      if let account = accounts[name] { reschedule(account) }
    }
    followedVault = vault
    let status = await vault.status()
    if toldVault == nil { toldVault = status } else { tell(status) }
  }

  /// Sends `name` if it differs from what was sent last.
  func tell(_ name: String) {
    index.note(name)
    guard events.isFollowed else {
      told = [:]
      followedVault = nil
      return toldVault = nil
    }
    // While a vault is opened or locked it is told as a whole, and no account.
    guard isOpen, !isLocked, told[name] != telling(name) else { return }
    told[name] = telling(name)
    let summary = summary(name)
    events.tell(.account(name, state: summary?.state, reason: summary?.reason, expiresAt: summary?.expiresAt))
  }

  /// Asks the vault for its state, and sends a change. One look after the other, so that the last one sent is the latest.
  func tellVault() {
    guard events.isFollowed, let vault = followedVault else { return }
    let before = vaultTelling
    vaultTelling = Task {
      await before?.value
      self.tell(await vault.status())
    }
  }

  private func tell(_ status: VaultStatusAnswer) {
    guard let before = toldVault, before != status else { return }
    toldVault = status
    if before.state != status.state || before.reason != status.reason {
      events.tell(.vault(status.state, reason: status.reason))
    }
  }

  /// The boot time at which the account's token ends, when that is to come and somebody wants to know.
  func toldEnd(_ name: String, at now: Moment) -> Double? {
    guard events.isFollowed,
      let end = accounts[name]?.machine.record?.token(.standard)?.endBootSeconds(at: now), end > now.bootSeconds
    else { return nil }
    return end
  }

  func telling(_ name: String) -> Told? {
    summary(name).map { summary in
      Told(
        state: summary.state, reason: summary.reason,
        fingerprint: accounts[name]?.machine.record?.token(.standard)?.fingerprint.description)
    }
  }
}
