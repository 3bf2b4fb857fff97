import AgentWire
import OAuthProtocol
import OAuthTerms
import Sealing

/// Tokens of one account for the request of another (RFC 8693, and the identity assertion grant). They are got before the
/// request has its place in the queue, so nobody holds a place while a lender waits for one. The lender is asked as every
/// caller asks it, so a thousand accounts that wait for its token cost it one refresh. It lends only where its own `hosts`
/// let its tokens go.
///
/// An account that lends borrows nothing itself: no chain, so no circle.
extension CredentialService {
  /// How long a lender is waited for: as long as its refresh may take.
  private static let lendingSeconds = Double(TokenEndpoint.refreshTimeoutMilliseconds) / 1_000

  // MARK: For a call

  /// Whether what the next call of `account` needs of others is there; else they are asked.
  func hasBorrowed(_ account: Account, _ wish: RequestToSend) -> Bool {
    guard let grant = account.machine.record?.grant, grant.binding.request?.lent != nil, grant.refreshToken == nil
    else {
      account.borrowing = nil
      return true
    }
    let borrowing = account.borrowing ?? Borrowing()
    account.borrowing = borrowing
    if hasBorrowed(borrowing, wish.key, account.name) { return true }
    borrowing.grant = nil
    guard !borrowing.isUnderWay else { return false }
    borrowing.isUnderWay = true
    let name = account.name
    let borrower = Borrower(name: name, binding: grant.binding, key: wish.key, isLoggedIn: true)
    Task { self.borrowed(account, grant.binding, await self.lend(grant.kind, wish, to: borrower)) }
    return false
  }

  /// The account that borrows, and what its login is bound to, or is to be.
  struct Borrower {
    let name: String
    let binding: DefinitionBinding
    let key: TokenKey
    /// Else it borrows for a login, whose binding a person has agreed to.
    let isLoggedIn: Bool
  }

  /// Whether `loans` would be made again, to a borrower that has the login that it borrows for, and may have something sent by
  /// it; or that is still logging in.
  func mayBorrow(_ borrower: Borrower, _ loans: [Loan]) -> Bool {
    guard areLent(loans, to: borrower.name) else { return false }
    guard borrower.isLoggedIn else { return pendingLogins.binding(of: borrower.name) == borrower.binding }
    let machine = accounts[borrower.name]?.machine
    return machine?.record?.grant?.binding == borrower.binding && machine?.obstacle == nil
      && machine?.isAllowed(borrower.key) == true
  }

  /// Whether `account`, which has its place, may go on as it is.
  func stillHasBorrowed(_ account: Account) -> Bool {
    guard let borrowing = account.borrowing, let key = account.machine.wish(at: now(account))?.key else { return true }
    return hasBorrowed(borrowing, key, account.name)
  }

  private func hasBorrowed(_ borrowing: Borrowing, _ key: TokenKey, _ name: String) -> Bool {
    guard let grant = borrowing.grant, grant.fits(key, at: time.now().bootSeconds) else { return false }
    return areLent(grant.loans, to: name)
  }

  /// Whether those who have lent `loans` to `name` would do so again: their logins are the same, and their files let the
  /// tokens go where they are to go.
  func areLent(_ loans: [Loan], to name: String) -> Bool {
    loans.allSatisfy { (try? mayLend($0.token, to: $0.endpoint, of: name))?.loginID == $0.login }
  }

  private func borrowed(
    _ account: Account, _ binding: DefinitionBinding, _ result: Result<LentGrant, AgentFailure>
  ) {
    account.borrowing?.isUnderWay = false
    guard accounts[account.name] === account, !isClosed, let borrowing = account.borrowing else { return }
    // After a login meanwhile, what was lent is for the one before.
    if account.machine.record?.grant?.binding == binding {
      switch result {
      // Asked for again at once, the next one would end before it comes as well.
      case .success(let grant) where grant.endBootSeconds.map { $0 <= time.now().bootSeconds } == true:
        borrowing.fail(
          AgentFailure(.unavailable, "\(account.name): what was lent to it had ended before it came"),
          at: time.now().bootSeconds, spread: random.fraction())
      case .success(let grant):
        borrowing.succeed()
        borrowing.grant = grant
      case .failure(let failure):
        borrowing.fail(failure, at: time.now().bootSeconds, spread: random.fraction())
      }
    }
    event(account, .woke(asked: nil))
  }

  /// `call` with what `account` has borrowed for it.
  func withBorrowed(_ call: TokenCall, _ account: Account) -> TokenCall {
    guard call.isLent, let lent = account.borrowing?.grant, areLent(lent.loans, to: account.name) else { return call }
    var call = call
    call.grant = lent.grant
    call.lent = lent.tokens
    return call
  }

  /// A server that refuses what was lent may know that it has ended: its lender gets another before it lends again.
  func noteRefusal(_ end: TokenCallEnd, of call: TokenCall) {
    guard !call.lent.isEmpty, case .answered(let answer) = end, case .refused(let error) = answer.verdict,
      error.mayMeanLentToken
    else { return }
    let place = Self.place(call.binding.tokenEndpoint)
    for lent in call.lent { event(lent.account, .rejected(lent.fingerprint, at: place)) }
  }

  // MARK: Lending

  /// The grant of `kind` as it is sent for the binding of `borrower`, with the tokens that other accounts lend it. Waits until
  /// they have theirs, a minute for each at most.
  func lend(
    _ kind: GrantKind, _ wish: RequestToSend, to borrower: Borrower
  ) async -> Result<LentGrant, AgentFailure> {
    let (name, binding) = (borrower.name, borrower.binding)
    do throws(AgentFailure) {
      guard let lent = binding.request?.lent else {
        throw AgentFailure(.configInvalid, "\(name): its login is bound to no account that lends it a token")
      }
      guard kind != .identityAssertion else {
        let lent = try await identityAssertion(lent.subject, for: borrower, wish)
        return .success(
          LentGrant(
            grant: .jwtBearer.with(assertion: lent.assertion), key: wish.key, endBootSeconds: lent.endBootSeconds,
            tokens: [], loans: [lent.loan]))
      }
      var tokens: [(lent: LentToken, secret: LentSecret)] = []
      for lent in lent.all {
        tokens.append((lent, try await token(lent, for: binding.tokenEndpoint, of: name)))
      }
      let sent = tokens.map { (token: $0.secret.secret, type: $0.lent.kind.uri) }
      return .success(
        LentGrant(
          grant: .tokenExchange(
            subject: sent[0], actor: sent.dropFirst().first, requestedType: lent.requestedType), key: wish.key,
          endBootSeconds: tokens.compactMap(\.secret.endBootSeconds).min(),
          tokens: tokens.map { LentFingerprint(account: $0.lent.account, fingerprint: $0.secret.fingerprint) },
          loans: tokens.map { Loan(token: $0.lent, login: $0.secret.login, endpoint: binding.tokenEndpoint) }))
    } catch { return .failure(error) }
  }

  /// What a lender lends.
  struct LentSecret {
    let secret: Secret
    /// Of the lender's access token, which a new one of either kind comes with.
    let fingerprint: Fingerprint
    /// `GrantRecord.loginID` of the lender.
    let login: String
    /// Boot time; nil: not known.
    let endBootSeconds: Double?
  }

  /// The token of another account for a request of `name` to `endpoint`; nil: to that account's own server. `other`: what
  /// came with this access token has not been taken, so the lender gets new ones.
  func token(
    _ lent: LentToken, for endpoint: String?, of name: String, other: Fingerprint? = nil
  ) async throws(AgentFailure) -> LentSecret {
    try mayLend(lent, to: endpoint, of: name)
    let waiter = AccountStateMachine.Waiter(
      id: nextID(), rejected: other, bestEffort: true, deadline: time.now().bootSeconds + Self.lendingSeconds)
    let result = await wait(lent.account, waiter)
    // Both files, and the lender's login, may have changed while this waited.
    let grant = try mayLend(lent, to: endpoint, of: name)
    let given: TokenWaiters.GivenToken
    do { given = try result.get() } catch { throw Self.failure(error, of: lent, for: name) }
    let token = given.token
    // One that was given before another login came is not that login's.
    guard given.login == grant.loginID else {
      throw AgentFailure(
        .unavailable, "\(name): it needs a token of \(lent.account), which has changed just now", hint: "ask again",
        retryAfterMilliseconds: 1)
    }
    switch lent.kind {
    case .accessToken, .jwt:
      return LentSecret(
        secret: token.accessToken.secret, fingerprint: token.fingerprint, login: grant.loginID,
        endBootSeconds: token.endBootSeconds(at: time.now()))
    case .idToken:
      let now = now(lent.account)
      if let (secret, seconds) = grant.idToken(at: now), seconds > Self.leastIDTokenSeconds {
        return LentSecret(
          secret: secret, fingerprint: token.fingerprint, login: grant.loginID,
          endBootSeconds: now.bootSeconds + seconds)
      }
      // A refresh may bring another one.
      if other == nil, grant.idToken(at: now) != nil {
        return try await self.token(lent, for: endpoint, of: name, other: token.fingerprint)
      }
      let asksForIt = accounts[lent.account]?.machine.definition?.scope.contains("openid") == true
      let reason = asksForIt ? "its server gave no ID token that is still good" : "its scope lacks openid"
      let failure = AgentFailure(
        .loginRequired, "\(lent.account): login needed: \(reason)",
        hint: .run("oauthctl login \(lent.account)" + (asksForIt ? "" : " --add-scope openid")))
      throw Self.failure(failure, of: lent, for: name)
    }
  }

  /// Seconds that an ID token must still be good for: the request waits for its place, and clocks differ.
  private static let leastIDTokenSeconds = 15.0

  /// The login that lends. Throws unless `lent` is of the account that was agreed to, and may go to `endpoint`.
  @discardableResult
  private func mayLend(
    _ lent: LentToken, to endpoint: String?, of name: String
  ) throws(AgentFailure) -> GrantRecord {
    let grant = try lender(lent, of: name)
    if let fault = lenderFault(lent, of: name) { throw fault }
    guard !grant.binding.isBound || lent.kind == .idToken else {
      throw AgentFailure(
        .configInvalid,
        "\(name): the tokens of \(lent.account) are bound to a key (dpop), and worth nothing without its proofs",
        hint: .advice("take its ID token (subject_token_type = \"id_token\"), or an account without dpop"))
    }
    guard let endpoint else { return grant }
    do { _ = try select(account: lent.account, url: endpoint) } catch {
      throw Self.failure(error, of: lent, for: name)
    }
    return grant
  }

  /// The lender's failure as that of whoever asked for the token of `name`, with the lender's next step.
  private static func failure(_ failure: AgentFailure, of lent: LentToken, for name: String) -> AgentFailure {
    failure.kind == .vaultLocked ? failure : LenderObstacle(failure, of: lent).failure(of: name)
  }

  /// The accounts that get their tokens for those of `lender`, sorted.
  func borrowers(of lender: String) -> [String] {
    accounts.values.filter { $0.machine.definition?.lent?.all.contains { $0.account == lender } == true }.map(\.name)
      .sorted()
  }

  // MARK: Agreeing

  /// `binding` with where the accounts are logged in that lend it tokens, and who there: that is what a person agrees to. And
  /// `GrantRecord.loginID` of those logins.
  func withLenders(
    _ binding: DefinitionBinding, of name: String
  ) throws(AgentFailure) -> (DefinitionBinding, lenders: [String]) {
    guard var lent = binding.request?.lent else { return (binding, []) }
    let logins = try lent.all.map { (lent) throws(AgentFailure) in try lender(lent, of: name) }
    lent.subject = lent.subject.bound(to: logins[0])
    lent.actor = lent.actor?.bound(to: logins[1])
    var binding = binding
    binding.request?.lent = lent
    return (binding, logins.map(\.loginID))
  }
}
