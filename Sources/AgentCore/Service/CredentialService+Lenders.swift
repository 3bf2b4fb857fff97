import AgentWire

/// Who has tokens by whose login. What a person agreed to was that login, of that person: where another one is in its
/// place, the tokens of both would be mixed, so nothing is given or sent until somebody agrees anew.
extension CredentialService {
  /// Why nothing of `account` is given or sent: a login that its tokens are made by is another one by now.
  func lenderFault(_ account: Account) -> AgentFailure? {
    for lent in account.machine.record?.grant?.binding.request?.lent?.all ?? [] {
      if let fault = lenderFault(lent, of: account.name) { return fault }
    }
    return nil
  }

  func lenderFault(_ lent: LentToken, of name: String) -> AgentFailure? {
    // What no login is bound to yet is what a person is agreeing to now.
    let borrower = grant(of: name).flatMap { $0.binding.request?.lent?.all.contains(lent) == true ? $0 : nil }
    guard let login = grant(of: lent.account),
      let change = lent.change(to: login, agreed: borrower?.loggedIn ?? time.now())
    else { return nil }
    return AgentFailure(
      .definitionChanged,
      "\(name): its login is bound to tokens of \(lent.account) \(change); nothing is given or sent",
      hint: .run("oauthctl login \(name)   # at a terminal it shows the change and asks"))
  }

  /// The accounts whose logins were agreed to with another login of `lender` than `login`, sorted.
  func borrowers(of lender: String, notBy login: GrantRecord) -> [String] {
    (borrowers[lender] ?? []).filter { name in
      guard let agreed = grant(of: name)?.loggedIn else { return false }
      return loans(of: name).contains { $0.account == lender && $0.change(to: login, agreed: agreed) != nil }
    }.sorted()
  }

  /// What the login of `name` is made of.
  private func loans(of name: String) -> [LentToken] { grant(of: name)?.binding.request?.lent?.all ?? [] }

  func noteLenders(of name: String) {
    for lent in loans(of: name) { borrowers[lent.account, default: []].insert(name) }
    keepLenders(of: name)
  }

  /// Keeps whose the logins are that lend to `name`, where nobody was noted when that was agreed to, as by an earlier
  /// version, and they have stood since. So another person's login is seen as one, also after a restart.
  private func keepLenders(of name: String) {
    guard let record = grant(of: name), let lent = record.binding.request?.lent else { return }
    func known(_ lent: LentToken) -> LentToken {
      grant(of: lent.account).map { lent.known(by: $0, agreed: record.loggedIn) } ?? lent
    }
    var next = lent
    (next.subject, next.actor) = (known(lent.subject), lent.actor.map(known))
    guard next != lent else { return }
    // Later, because this is done within an event of an account. It is seen without being kept, too, so a failure is none.
    Task { [next] in try? await self.change(name, .keepLenders(next, from: record.binding)) }
  }

  /// Something of `lender` has changed: who was refused a token of it may ask again, and who has tokens by a login that is
  /// another one now gives none.
  func lenderChanged(_ lender: String) {
    guard let names = borrowers[lender] else { return }
    for name in names { keepLenders(of: name) }
    let concerned = names.filter { name in
      guard let account = accounts[name], loans(of: name).contains(where: { $0.account == lender }) else {
        borrowers[lender]?.remove(name)
        return false
      }
      let isRefused = account.borrowing?.failure != nil
      guard isRefused || lenderFault(account) != account.machine.lenderFault else { return false }
      account.borrowing?.succeed()
      takeHolds(account)
      offer(name)
      return true
    }
    if borrowers[lender]?.isEmpty == true { borrowers[lender] = nil }
    guard !concerned.isEmpty else { return }
    Task { self.wakeSoon(concerned) }
  }
}
