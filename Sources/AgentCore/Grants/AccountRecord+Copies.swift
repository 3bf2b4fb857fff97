import OAuthProtocol

/// What another copy of a record knows, which was kept in another vault.
extension AccountRecord {
  /// Takes in what `older` has still to tell a server, before what is to be told here; what was accepted of this login, and secrets
  /// that were set or taken out, later; clients that are not known here; and a sending that nothing is known of here. Tokens that a
  /// logout did not know are to be revoked like those that it ended.
  mutating func join(_ older: AccountRecord, at now: Moment) {
    joinBinding(of: older)
    joinSecrets(of: older)
    let unknown = (older.registrations ?? []).filter { !knows($0) }
    if !unknown.isEmpty { registrations = unknown + (registrations ?? []) }
    let owed = revocations
    let theirs = older.revocations + older.tokensUnknown(to: self, at: now)
    revocations = theirs.filter { other in !owed.contains { $0.token == other.token } } + owed
    owe([])
    joinIntent(of: older)
  }

  /// Whether ``join(_:at:)`` would take something in, but for the sending.
  func lacksParts(of older: AccountRecord, at now: Moment) -> Bool {
    var joined = self
    joined.join(older, at: now)
    joined.intent = intent
    return joined != self
  }

  private mutating func joinBinding(of other: AccountRecord) {
    guard let mine = grant, let theirs = other.grant, mine.order == theirs.order, mine.loginID == theirs.loginID,
      let number = theirs.bindingOrder, number > mine.bindingOrder ?? 0
    else { return }
    move(to: theirs.binding)
    grant?.lenders = theirs.lenders
    grant?.bindingOrder = number
    if mine.binding.request?.lent != theirs.binding.request?.lent { tokens = [] }
  }

  /// A secret without a number that is not here was taken out with the last change at the latest.
  private mutating func joinSecrets(of other: AccountRecord) {
    if let number = other.clientSecretOrder, number > clientSecretOrder ?? (clientSecret == nil ? order : nil) ?? 0 {
      clientSecret = other.clientSecret
      (clientSecretPlace, clientSecretOrder) = (other.clientSecretPlace, number)
      tellRevocationsOfSecret()
    }
    if let number = other.passwordOrder, number > passwordOrder ?? (password == nil ? order : nil) ?? 0 {
      password = other.password
      (passwordPlace, passwordOrder) = (other.passwordPlace, number)
    }
  }

  /// What is to be revoked of this login, where `newer` has ended it and knew an earlier token of it alone, or another login.
  private func tokensUnknown(to newer: AccountRecord, at now: Moment) -> [RevocationRecord] {
    guard newer.grant == nil, let logout = newer.logoutOrder, let grant, grant.order ?? 0 < logout,
      let token = grant.tokenOrder, token > newer.formerTokenOrder ?? .max
    else { return [] }
    return AccountStateMachine.revocations(of: grant, self, at: now, order: logout)
  }

  /// Of two copies with the same token, each may know of a sending of it. The one that was sent more often counts.
  mutating func joinIntent(of other: AccountRecord) {
    guard let mine = grant, let token = mine.refreshToken?.secret, other.grant?.refreshToken?.secret == token,
      (mine.order, mine.tokenOrder) == (other.grant?.order, other.grant?.tokenOrder), let theirs = other.intent,
      theirs.isAbout(token)
    else { return }
    if let own = intent, own.isAbout(token), own.attempt >= theirs.attempt { return }
    intent = theirs
  }
}
