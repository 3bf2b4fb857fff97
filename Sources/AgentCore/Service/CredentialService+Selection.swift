import AgentWire
import HTTPTerms
import OAuthProtocol

extension CredentialService {
  /// The account that a request gets.
  struct Choice {
    let name: String
    let matchedHost: String?
    /// Another account may be the one that is meant, and nobody can tell: one line.
    var doubt: String?
  }

  /// Which account a request means. One that nobody can read stops no healthy one: that is served, with a word of doubt.
  func select(_ request: TokenGet) throws(AgentFailure) -> Choice {
    let wish = AccountSelection.Wish(account: request.account, url: request.url, username: request.username)
    // What is no fingerprint is refused later, with words of its own.
    return try select(wish, rejected: request.rejected.flatMap { try? Self.fingerprint($0) })
  }

  func select(account: String, url: String?) throws(AgentFailure) -> Choice {
    try select(AccountSelection.Wish(account: account, url: url), rejected: nil)
  }

  func select(_ wish: AccountSelection.Wish, rejected: Fingerprint?) throws(AgentFailure) -> Choice {
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
    let unread = wish.account == nil ? unreadAccount(wish.url) : nil
    let choice: Choice
    do {
      let (name, host) = try AccountSelection.select(wish, among: known)
      choice = Choice(name: name, matchedHost: host)
    } catch {
      let missing = error.kind == .accountUnknown ? wish.account : nil
      if let missing, problems.first(about: missing) == nil, let account = accounts[missing], isLoginAlone(account) {
        throw AgentFailure(
          .accountUnknown, "\(missing): \(Self.fileGone)", hint: Self.fileGoneHint(missing))
      }
      guard error.kind != .accountAmbiguous, let name = unread ?? missing, problems.first(about: name) != nil
      else { throw error }
      throw unreadable(name)
    }
    guard let unread, let chosen = known.first(where: { $0.name == choice.name }) else { return choice }
    switch chosen.fit(wish) {
    case .meant: return choice
    case .other: throw unreadable(unread)
    case .perhaps:
      let failure = unreadable(unread)
      return Choice(
        name: choice.name, matchedHost: choice.matchedHost,
        doubt: failure.message + (failure.hint.map { "; \($0)" } ?? "") + "; meanwhile \(choice.name) is taken")
    }
  }

  private func unreadable(_ name: String) -> AgentFailure {
    guard let problem = problems.first(about: name) else {
      return AgentFailure(.configInvalid, "\(name): its file cannot be used")
    }
    return AgentFailure(
      .configInvalid, "\(name): its file cannot be used: \(problem.sentence)", hint: "mend \(problem.file)")
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
  private func isUnread(_ account: Account) -> Bool {
    isLoginAlone(account) && problems.first(about: account.name) != nil
  }

  /// Whether there is a login and nothing else: its file is gone, or has had a problem since the agent started. While a
  /// folder of them is not read whole, only the latter can be told.
  func isLoginAlone(_ account: Account) -> Bool {
    account.machine.definition == nil && account.machine.record?.grant != nil
      && (!problems.hideFiles || problems.first(about: account.name) != nil)
  }

  /// Where a token was rejected: origin and path. The query is left out, which may hold anything.
  static func place(_ url: String?) -> String? {
    guard let url, let parsed = try? WebURL(url) else { return nil }
    return parsed.origin.description + (parsed.path.isEmpty ? "/" : parsed.path)
  }
}
