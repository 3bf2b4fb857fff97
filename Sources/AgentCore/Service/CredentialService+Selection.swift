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
    // One that nobody can read may be the one that is meant: another's token is not given in its place, unless the request
    // says whose it wants.
    if wish.account == nil, let unread = unreadAccount(wish.url), !known.contains(where: { $0.isMeant(by: wish) }) {
      throw unreadable(unread) ?? AgentFailure(.configInvalid, "\(unread): its file cannot be read")
    }
    do { return try AccountSelection.select(wish, among: known) } catch {
      guard error.kind == .accountUnknown, let name = wish.account, let failure = unreadable(name) else { throw error }
      throw failure
    }
  }

  private func unreadable(_ name: String) -> AgentFailure? {
    problems.first(about: name).map { problem in
      AgentFailure(.configInvalid, "\(name): \(problem.located)", hint: "mend \(problem.file)")
    }
  }

  /// An account whose login serves `url` (nil: any URL), and whose file could not be read since the agent started.
  private func unreadAccount(_ url: String?) -> String? {
    // Mostly no file has a problem: then nothing is looked through.
    guard !problems.all.isEmpty else { return nil }
    let origin = url.flatMap { try? WebURL($0) }?.origin.description
    guard url == nil || origin != nil else { return nil }
    return accounts.values.filter { account in
      isUnread(account) && origin.map { account.machine.record?.grant?.binding.hosts.contains($0) == true } ?? true
    }.map(\.name).min()
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
