import AgentWire
import OAuthProtocol

extension CredentialService {
  /// Which account a request means.
  func select(_ request: TokenGet) throws(AgentFailure) -> (name: String, matchedHost: String?) {
    let wish = AccountSelection.Wish(account: request.account, url: request.url, username: request.username)
    // What is no fingerprint is refused later, with words of its own.
    return try select(wish, rejected: request.rejected.flatMap { try? Self.fingerprint($0) })
  }

  func select(account: String?, url: String?) throws(AgentFailure) -> (name: String, matchedHost: String?) {
    try select(AccountSelection.Wish(account: account, url: url), rejected: nil)
  }

  func select(
    _ wish: AccountSelection.Wish, rejected: Fingerprint?
  ) throws(AgentFailure) -> (name: String, matchedHost: String?) {
    // One that is named is looked up: with thousands of accounts, listing them all takes longer than a refresh.
    let named = wish.account.flatMap { name in
      accounts[name].flatMap { $0.machine.definition == nil ? nil : [name: $0] }
    }
    let known = (named ?? accounts).values.compactMap { account -> AccountSelection.Candidate? in
      guard let definition = account.machine.definition else { return nil }
      let record = account.machine.record
      return AccountSelection.Candidate(
        definition, hosts: HostPolicy(definition, boundTo: record?.grant?.binding), isLoggedIn: record?.grant != nil,
        holdsRejected: rejected.map { rejected in
          record?.tokens.contains { $0.fingerprint == rejected } ?? false
        } ?? false)
    }
    do { return try AccountSelection.select(wish, among: known) } catch {
      // A user name that no account answers to is told as such, whatever else is wrong.
      guard error.kind == .accountUnknown, error.accounts == nil || wish.account != nil,
        let name = wish.account ?? wish.url.flatMap(unreadAccount), let problem = problems.first(about: name)
      else { throw error }
      throw AgentFailure(
        .configInvalid, "\(name): \(problem.file): \(problem.sentence)", hint: "mend \(problem.file)")
    }
  }

  /// The account whose login serves `url`, and whose file could not be read since the agent started.
  private func unreadAccount(_ url: String) -> String? {
    guard let origin = (try? WebURL(url))?.origin.description else { return nil }
    return accounts.first { _, account in
      isUnread(account) && account.machine.record?.grant?.binding.hosts.contains(origin) == true
    }?.key
  }

  /// Whether there is a login and nothing else: its file has had a problem since the agent started.
  func isUnread(_ account: Account) -> Bool {
    account.machine.definition == nil && account.machine.record?.grant != nil
      && problems.first(about: account.name) != nil
  }

  /// Where a token was rejected: origin and path. The query is left out, which may hold anything.
  static func place(_ url: String?) -> String? {
    guard let url, let parsed = try? WebURL(url) else { return nil }
    return parsed.origin.description + (parsed.path.isEmpty ? "/" : parsed.path)
  }
}
