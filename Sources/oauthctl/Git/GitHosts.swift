import AgentWire

/// The hosts for which git is to ask oauthctl. git proves no key, so accounts whose tokens are bound to one are left out.
struct GitHosts: Equatable {
  /// In the order of the accounts, each once.
  private(set) var hosts: [String] = []
  /// The accounts that are left out.
  private(set) var bound: [String] = []

  init(_ accounts: [AccountSummary]) {
    for account in accounts {
      guard account.dpop != true else {
        bound.append(account.account)
        continue
      }
      for host in account.hosts where !hosts.contains(host) { hosts.append(host) }
    }
  }

  /// Why `account` is left out.
  static func words(_ account: String) -> String {
    "\(account): its tokens are bound to a key (DPoP), which git cannot prove"
  }

  /// What git cannot do.
  static func step(_ account: String) -> NextStep { .run("oauthctl curl \(account) URL   # sends the proof") }
}
