import AgentWire

/// Who has tokens by whose login. What a person agreed to was that login, of that person: where another one is in its
/// place, the tokens of both would be mixed, so nothing is given or sent until somebody agrees anew. Nor is anything while
/// there is none: it was taken back, and nobody knows whose the next one is.
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
    guard let login = grant(of: lent.account) else {
      do throws(LenderObstacle) { _ = try grant(lentTo: name, of: lent) } catch { return error.failure(of: name) }
      return nil
    }
    guard let change = lent.change(to: login, borrower) else { return nil }
    return AgentFailure(
      .definitionChanged,
      "\(name): its login is bound to tokens of \(lent.account) \(change); nothing is given or sent",
      hint: .run("oauthctl login \(name)   # at a terminal it shows the change and asks"))
  }

  /// The accounts whose logins were agreed to with another login of `lender` than `login`, sorted.
  func borrowers(of lender: String, notBy login: GrantRecord) -> [String] {
    (borrowers[lender] ?? []).filter { name in
      guard let borrower = grant(of: name) else { return false }
      return loans(of: name).contains { $0.account == lender && $0.change(to: login, borrower) != nil }
    }.sorted()
  }

  /// What the login of `name` is made of.
  private func loans(of name: String) -> [LentToken] { grant(of: name)?.binding.request?.lent?.all ?? [] }

  func noteLenders(of name: String) {
    let loans = loans(of: name)
    for lent in loans { borrowers[lent.account, default: []].insert(name) }
    keepLenders(of: name)
    // Its login may have been agreed to before that of a lender changed.
    if !loans.isEmpty, let account = accounts[name] { takeHolds(account) }
  }

  /// Keeps whose the logins are that lend to `name`, where nobody was noted when that was agreed to, as by an earlier
  /// version, and they have stood since. So another person's login is seen as one, also after a restart.
  private func keepLenders(of name: String) {
    guard let record = grant(of: name), let lent = record.binding.request?.lent else { return }
    func known(_ lent: LentToken) -> LentToken {
      grant(of: lent.account).map { lent.known(by: $0, record) } ?? lent
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

  // MARK: What can lend

  /// The login that lends. Throws where there is none, or where it borrows itself.
  func lender(_ lent: LentToken, of name: String) throws(AgentFailure) -> GrantRecord {
    // A lock may have come.
    guard isOpen else { throw .vaultLocked }
    do throws(LenderObstacle) { return try grant(lentTo: name, of: lent) } catch { throw error.failure(of: name) }
  }

  private func grant(lentTo name: String, of lent: LentToken) throws(LenderObstacle) -> GrantRecord {
    guard let machine = accounts[lent.account]?.machine, let definition = machine.definition else {
      if let account = accounts[lent.account], isLoginAlone(account) {
        throw LenderObstacle(
          .configInvalid, "\(LenderObstacle.need(lent)), and \(fileGone(lent.account))",
          hint: fileGoneHint(lent.account))
      }
      let borrower = accounts[name]?.machine.definition
      let key = borrower?.lent.map { $0.subject.account != lent.account } == true ? "actor_account" : "subject_account"
      throw LenderObstacle(
        .configInvalid, "\(LenderObstacle.need(lent)), and there is no such account",
        hint: .advice("name an existing account as \(key) in \(borrower?.file ?? "its file")"))
    }
    guard let grant = machine.record?.grant else {
      throw LenderObstacle(machine.loginRequired("not logged in"), of: lent)
    }
    guard grant.binding.request?.lent == nil, definition.lent == nil else {
      throw LenderObstacle(
        .configInvalid, "\(lent.account) gets its own tokens by those of another account, so it lends none",
        hint: .advice("name an account that logs in by itself"))
    }
    return grant
  }

  /// The same for a login that is to last: the lender needs no login itself, though its last token may not have ended yet.
  private func lastingGrant(lentTo name: String, of lent: LentToken) throws(LenderObstacle) -> GrantRecord {
    let grant = try grant(lentTo: name, of: lent)
    if let verdict = grant.verdict, verdict.kind == .loginRequired, let machine = accounts[lent.account]?.machine {
      throw LenderObstacle(machine.loginRequired(verdict.reason), of: lent)
    }
    return grant
  }

  /// Throws where an account that lends to `definition` needs a login itself: the server would blame the token.
  func checkLenders(of definition: AccountDefinition) throws(AgentFailure) {
    guard isOpen else { throw .vaultLocked }
    for lent in definition.lent?.all ?? [] {
      do throws(LenderObstacle) { _ = try lastingGrant(lentTo: definition.name, of: lent) } catch {
        throw error.failure(of: definition.name)
      }
    }
  }

  /// `failure` of `account`: where it has no login, and could have none since another account has to log in first, that
  /// is what is told.
  func blamingLender(_ failure: AgentFailure, of account: Account) -> AgentFailure {
    guard failure.kind == .loginRequired, account.machine.record?.grant == nil,
      let definition = account.machine.definition
    else { return failure }
    do throws(AgentFailure) { try checkLenders(of: definition) } catch { return error }
    return failure
  }

  /// Accounts that `definition` needs a token of, and that have none to lend.
  func lenderConcerns(_ definition: AccountDefinition) -> [AccountConcern] {
    // Of a locked vault nobody knows who could lend.
    guard isOpen else { return [] }
    return (definition.lent?.all ?? []).compactMap { lent in
      do throws(LenderObstacle) { _ = try lastingGrant(lentTo: definition.name, of: lent) } catch {
        return AccountConcern(
          check: "client", message: error.reason,
          hint: error.hint ?? .run("oauthctl account show \(lent.account)"), isBlocking: true)
      }
      return nil
    }
  }

  /// What the next request for `definition` will lack, while the token at hand is still good; nil: nothing.
  func lenderHint(_ definition: AccountDefinition) -> NextStep? {
    lenderConcerns(definition).first.map { .advice($0.nextStep.line(after: $0.message)) }
  }
}
