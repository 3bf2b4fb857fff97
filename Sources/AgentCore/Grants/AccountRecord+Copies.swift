/// What another copy of a record knows, which was kept in another vault.
extension AccountRecord {
  /// Takes in what `older` has still to tell a server, before what is to be told here, and a sending that nothing is known of here.
  mutating func join(_ older: AccountRecord) {
    let mine = revocations
    revocations = older.revocations.filter { other in !mine.contains { $0.token == other.token } } + mine
    owe([])
    joinIntent(of: older)
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
