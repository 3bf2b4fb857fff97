import OAuthProtocol

/// A refresh token that came when nobody waited for it any more, as it is sealed.
package struct LateToken: Sendable, Equatable, Codable {
  package let refreshToken: StoredSecret
  /// The fingerprint of the refresh token that it was given for.
  package let sent: String
  package let received: Moment
  package let lifeSeconds: Double?
  package let binding: DefinitionBinding
  /// When the login that it belongs to was made: names it among those of the account. Nil in those from before this was
  /// kept.
  package let loggedIn: Moment?
  /// That login's ``GrantRecord/order``. Nil likewise.
  package let order: UInt64?

  package init(
    refreshToken: StoredSecret, sent: String, received: Moment, lifeSeconds: Double?, binding: DefinitionBinding,
    loggedIn: Moment? = nil, order: UInt64? = nil
  ) {
    self.refreshToken = refreshToken
    self.sent = sent
    self.received = received
    self.lifeSeconds = lifeSeconds
    self.binding = binding
    self.loggedIn = loggedIn
    self.order = order
  }

  /// Nil: the end of `call` has brought none.
  init?(_ call: TokenCall, _ end: TokenCallEnd) {
    guard case .answered(let answer) = end, let token = answer.salvagedRefreshToken,
      let used = call.grant.refreshToken
    else { return nil }
    self.init(
      refreshToken: StoredSecret(token), sent: Fingerprint(of: used).description, received: call.started,
      lifeSeconds: answer.refreshTokenLifeSeconds, binding: call.binding, loggedIn: call.loggedIn,
      order: call.order)
  }

  /// The refresh token that `record` has in the place of that of `before`, of the same login; nil: it has no other.
  init?(in record: AccountRecord, insteadOf before: AccountRecord, at now: Moment) {
    guard let login = record.grant, login.loggedIn == before.grant?.loggedIn, let token = login.refreshToken,
      let used = before.grant?.refreshToken, used != token
    else { return nil }
    self.init(
      refreshToken: token, sent: Fingerprint(of: used.secret).description, received: login.refreshTokenReceived ?? now,
      lifeSeconds: login.refreshTokenLifeSeconds, binding: login.binding, loggedIn: login.loggedIn,
      order: login.order)
  }

  private enum CodingKeys: String, CodingKey {
    case sent, received, binding, order
    case refreshToken = "refresh_token"
    case lifeSeconds = "life_s"
    case loggedIn = "logged_in"
  }
}

extension AccountRecord {
  /// Takes in a refresh token that came late, for the login that it belongs to: in place of the one that it was given for,
  /// or beside another that came first. Where a logout has ended that login, the server has one more to revoke. A later
  /// login, at this server or another, has nothing to do with it; nor has a logout of before that login, as of an older vault.
  mutating func take(_ late: LateToken) {
    guard let login = grant else {
      guard formerBinding == late.binding, late.binding.revocationEndpoint != nil else { return }
      if let login = late.order, let logoutOrder, login > logoutOrder { return }
      var revocation = RevocationRecord(
        token: late.refreshToken, hint: "refresh_token", binding: late.binding, since: late.received)
      revocation.order = logoutOrder
      if late.binding.sendsClientSecret { revocation.clientSecret = clientSecret(for: revocation) }
      owe([revocation])
      return
    }
    guard late.loggedIn.map({ $0 == login.loggedIn }) ?? (late.binding == login.binding),
      let current = login.refreshToken?.secret, current != late.refreshToken.secret
    else { return }
    // The server has refused the one that was taken: this is the one that it keeps.
    let isRefused = login.verdict?.kind == .loginRequired && login.verdict?.isUnconfirmed != true
    if isRefused { grant?.verdict = nil }
    // What came first has been used since, so the server has done with this one.
    if let parent = login.refreshTokenParent, parent != late.sent, !isRefused,
      Fingerprint(of: current).description != late.sent
    {
      return
    }
    guard Fingerprint(of: current).description == late.sent || isRefused else {
      grant?.otherRefreshToken = late.refreshToken
      return
    }
    grant?.take(
      late.refreshToken.secret, received: late.received, lifeSeconds: late.lifeSeconds, parent: late.sent)
    intent = nil
    if grant?.verdict?.isUnconfirmed == true { grant?.verdict = nil }
  }
}
