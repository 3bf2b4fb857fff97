import OAuthProtocol
import TokenVault

/// Some faults are mended outside of what the agent watches: it looks again when somebody asks.
extension CredentialService {
  /// Whether `name` is held back by something that may have been put right since, without a word to the agent.
  func mayBeMended(_ name: String) -> Bool {
    guard let machine = accounts[name]?.machine else { return false }
    return machine.isRolledBack || machine.isAuthorityChanged
  }

  /// Looks again at what holds `name` back. Returns whether anything was read anew.
  @discardableResult package func lookAgain(_ name: String) async -> Bool {
    await lookAtRollback()
    guard let machine = accounts[name]?.machine, machine.isAuthorityChanged,
      let agreed = machine.record?.grant?.binding.route.authority, case .success = await configuration.content(agreed)
    else { return false }
    _ = await filesChanged()
    return true
  }

  /// A commit counter that could not be read may be readable by now.
  package func lookAtRollback() async {
    guard isOpen, rollback != nil else { return }
    let now = await store.rolledBackFrom
    guard isOpen, !isLocked, now != rollback else { return }
    guard now != nil else { return acceptRollback() }
    rollback = now
    for account in accounts.values { account.machine.rollback = now }
  }
}
