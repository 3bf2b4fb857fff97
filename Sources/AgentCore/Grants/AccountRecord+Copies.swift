/// What another copy of a record knows, which was kept in another vault.
extension AccountRecord {
  /// Takes in what `older` has still to tell a server, before what is to be told here; secrets that were set later, and clients that
  /// are not known here; and a sending that nothing is known of here.
  mutating func join(_ older: AccountRecord) {
    joinSecrets(of: older)
    let unknown = (older.registrations ?? []).filter { !knows($0) }
    if !unknown.isEmpty { registrations = unknown + (registrations ?? []) }
    let owed = revocations
    revocations = older.revocations.filter { other in !owed.contains { $0.token == other.token } } + owed
    owe([])
    joinIntent(of: older)
  }

  /// Whether ``join(_:)`` would take something in, but for the sending.
  func lacksParts(of older: AccountRecord) -> Bool {
    var joined = self
    joined.join(older)
    joined.intent = intent
    return joined != self
  }

  /// A secret that is not here was taken out with the last change at the latest.
  private mutating func joinSecrets(of other: AccountRecord) {
    if let number = other.clientSecretOrder, number > (clientSecret == nil ? order : clientSecretOrder) ?? 0 {
      clientSecret = other.clientSecret
      (clientSecretPlace, clientSecretOrder) = (other.clientSecretPlace, number)
      tellRevocationsOfSecret()
    }
    if let number = other.passwordOrder, number > (password == nil ? order : passwordOrder) ?? 0 {
      password = other.password
      (passwordPlace, passwordOrder) = (other.passwordPlace, number)
    }
  }

  /// Of two copies in which nothing but that has changed, each may know of a sending of the refresh token. The one that was sent more
  /// often counts.
  mutating func joinIntent(of other: AccountRecord) {
    guard order == other.order, let token = grant?.refreshToken?.secret, other.grant?.refreshToken?.secret == token,
      let theirs = other.intent, theirs.isAbout(token)
    else { return }
    if let mine = intent, mine.isAbout(token), mine.attempt >= theirs.attempt { return }
    intent = theirs
  }
}
