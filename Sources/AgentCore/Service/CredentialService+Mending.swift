import OAuthProtocol
import TokenVault

/// Some faults are mended outside of what the agent watches: it looks again when somebody asks.
extension CredentialService {
  /// Whether `name` is held back by something that may have been put right since, without a word to the agent.
  func mayBeMended(_ name: String) -> Bool {
    guard let machine = accounts[name]?.machine else { return false }
    return machine.isRolledBack || machine.isAuthorityChanged
  }

  /// Reads the files again where the private authority of one of `names` is the one that was agreed to. Returns whether
  /// that is so.
  package func lookAtAuthorities(of names: [String]) async -> Bool {
    // Many accounts have one in common.
    let agreed = names.compactMap { accounts[$0]?.machine }.filter(\.isAuthorityChanged)
      .compactMap { $0.record?.grant?.binding.route.authority }
    for authority in Set(agreed) {
      if case .success = await configuration.content(authority) {
        _ = await filesChanged()
        return true
      }
    }
    return false
  }

  /// A commit counter that could not be read may be readable by now.
  package func lookAtRollback() async {
    guard isOpen, rollback != nil else { return }
    let now = await store.rolledBackFrom
    guard isOpen, !isLocked, now != rollback else { return }
    guard now != nil else { return acceptRollback() }
    rollback = now
    for account in accounts.values { account.handle(.rolledBack(from: now), at: time.now()) }
  }
}
