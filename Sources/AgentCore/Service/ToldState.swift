import AgentWire

/// What was told last of accounts and of the vault, while somebody is subscribed. The present state is compared with it, so
/// it does no harm to look once too often.
struct ToldState {
  /// What is told of an account. The token's end is left out: it is computed each time, and may differ by a second.
  struct Account: Equatable {
    var state: AccountSummary.State
    var reason: String?
    var fingerprint: String?
  }

  /// Hears how many accounts are served, or that none is.
  var serving: (@Sendable (ServingState) -> Void)?
  private(set) var followedVault: (any VaultControl)?
  /// The last look at the vault.
  private(set) var vaultTelling: Task<Void, Never>?
  private var accounts: [String: Account] = [:]
  private var vault: VaultStatusAnswer?

  var isEmpty: Bool { accounts.isEmpty }
  var names: some Sequence<String> { accounts.keys }
  subscript(name: String) -> Account? { accounts[name] }

  /// From now on `vault` is looked at, too.
  mutating func follow(_ vault: any VaultControl) { followedVault = vault }

  /// Nobody is subscribed any more.
  mutating func endFollowing() { (accounts, followedVault, vault) = ([:], nil, nil) }

  mutating func forgetAccounts() { accounts = [:] }

  /// Notes how an account is; nil: there is none. Returns whether that is news.
  @discardableResult
  mutating func note(_ name: String, _ account: Account?) -> Bool {
    guard accounts[name] != account else { return false }
    accounts[name] = account
    return true
  }

  /// Notes how the vault is. Returns whether that is news; the first time it is none.
  mutating func note(_ status: VaultStatusAnswer) -> Bool {
    defer { vault = status }
    return vault.map { $0.state != status.state || $0.reason != status.reason } ?? false
  }

  /// Whether the vault's state was noted before.
  var knowsVault: Bool { vault != nil }

  /// One look at the vault after the other, so that the last one told is the latest.
  mutating func look(_ look: @escaping @Sendable () async -> Void) {
    let before = vaultTelling
    vaultTelling = Task {
      await before?.value
      await look()
    }
  }
}
