import OAuthProtocol

/// What another copy of a record knows, which was kept in another vault. Where tokens go is not taken from there: the other vault may
/// be one that nobody has accepted.
extension AccountRecord {
  /// Takes in what `older` has still to tell a server, before what is to be told here; secrets that were set or taken out later, with
  /// their places; clients that are not known here; and a sending that nothing is known of here. Tokens that a logout did not know
  /// are to be revoked like those that it ended.
  mutating func join(_ older: AccountRecord, at now: Moment) {
    joinSecrets(of: older)
    joinRegistrations(of: older, at: now)
    let mine = revocations
    let theirs = older.revocations + older.tokensUnknown(to: self, at: now)
    revocations = theirs.filter { other in !mine.contains { $0.token == other.token } } + mine
    owe([])
    // It was taken out, and is sent for nothing that waits. With a whole account it goes when all is told.
    if clientSecret == nil, clientSecretOrder != nil, !isForgotten {
      for index in revocations.indices { revocations[index].clientSecret = nil }
    }
    joinIntent(of: older)
  }

  /// Whether ``join(_:at:)`` would take something in, but for the sending.
  func lacksParts(of older: AccountRecord, at now: Moment) -> Bool {
    var joined = self
    joined.join(older, at: now)
    joined.intent = intent
    return joined != self
  }

  /// Nothing is left of it but what a server has still to be told.
  private var isForgotten: Bool { grant == nil && formerBinding == nil && logoutOrder != nil }

  private mutating func joinSecrets(of other: AccountRecord) {
    if let number = other.clientSecretOrder, number > clientSecretOrder ?? 0 {
      clientSecret = other.clientSecret
      (clientSecretPlace, clientSecretOrder) = (other.clientSecretPlace, number)
      tellRevocationsOfSecret()
    }
    if let number = other.passwordOrder, number > passwordOrder ?? 0 {
      password = other.password
      (passwordPlace, passwordOrder) = (other.passwordPlace, number)
    }
  }

  private mutating func joinRegistrations(of other: AccountRecord, at now: Moment) {
    let unknown = (other.registrations ?? []).filter { client in
      !knows(client) && !revocations.contains { $0.clientURI != nil && $0.clientURI == client.clientURI }
    }
    guard !unknown.isEmpty else { return }
    if isForgotten {
      owe(unknown.compactMap { $0.deletion(at: now) })
    } else {
      registrations = unknown + (registrations ?? [])
    }
  }

  /// What is to be revoked of this login, where `newer` has ended it and knew an earlier token of it alone, or another login. Of a
  /// token from before they were numbered nobody knows.
  private func tokensUnknown(to newer: AccountRecord, at now: Moment) -> [RevocationRecord] {
    guard newer.grant == nil, let logout = newer.logoutOrder, let former = newer.formerTokenOrder, let grant,
      grant.order ?? 0 < logout, grant.tokenOrder ?? .max > former
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
