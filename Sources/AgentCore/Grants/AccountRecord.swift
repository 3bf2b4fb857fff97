import AgentWire

/// Everything durable about one account, in one sealed record: so one write is one step of its life.
package struct AccountRecord: Sendable, Equatable, Codable {
  package static let format = 1

  package var format = AccountRecord.format
  package var name: String
  package var clientSecret: StoredSecret?
  /// Kept only when the user chose so.
  package var password: StoredSecret?
  /// Where the two belong; nil: where the login does, in records from before this was kept.
  package var clientSecretPlace: SecretPlace?
  package var passwordPlace: SecretPlace?
  /// The numbers of the changes that set the two, or took them out: see ``order``.
  package var clientSecretOrder: UInt64?
  package var passwordOrder: UInt64?
  package var grant: GrantRecord?
  /// What the login was bound to that a logout ended: the next one is compared with it.
  package var formerBinding: DefinitionBinding?
  /// The number of that logout, as ``RevocationRecord/order`` has it, or of the forgetting of the account. Nil: it is from before it
  /// was kept.
  package var logoutOrder: UInt64?
  /// ``GrantRecord/tokenOrder`` of what that logout ended.
  package var formerTokenOrder: UInt64?
  package var tokens: [TokenRecord] = []
  /// Set before a refresh token is sent, removed with its answer.
  package var intent: RefreshIntent?
  /// What the server has still to be told (RFC 7009).
  package var revocations: [RevocationRecord] = []
  /// Clients that were registered for the account, the last one at the end. Nil: none, as in records from before.
  package var registrations: [ClientRegistrationRecord]?
  /// The number of the last change that somebody made. Nil: it is from before they were numbered.
  /// See ``RecordAge`` and ``GrantRecord/order``.
  package var order: UInt64?

  package init(name: String) { self.name = name }

  package func token(_ key: TokenKey) -> TokenRecord? { tokens.first { $0.key == key } }

  /// Whether there is a login that may have worked. One that was taken over and refused at once has given no token, and is in
  /// no other account's way.
  var hasLogin: Bool { grant != nil && !(grant?.verdict != nil && tokens.isEmpty) }

  /// Whether nothing would be lost with it.
  var isEmpty: Bool {
    var bare = self
    (bare.order, bare.clientSecretOrder, bare.passwordOrder) = (nil, nil, nil)
    (bare.logoutOrder, bare.formerTokenOrder) = (nil, nil)
    return bare == AccountRecord(name: name)
  }

  /// Gives those that are other ones than `before` had the number `order`; none is another one, too.
  mutating func numberSecrets(insteadOf before: AccountRecord?, _ order: UInt64) {
    if clientSecret != before?.clientSecret { clientSecretOrder = order }
    if password != before?.password { passwordOrder = order }
  }

  /// What is kept beside the login.
  var keptSecrets: [SecretKind] { [.clientSecret, .password].filter(keeps) }

  func keeps(_ kind: SecretKind) -> Bool {
    switch kind {
    case .clientSecret: clientSecret != nil
    case .password: password != nil
    case .refreshToken: grant?.refreshToken != nil
    }
  }

  /// Seconds that were missed since its oldest token came, at most.
  func missedSeconds(_ missed: MissedTime) -> Double {
    tokens.map { $0.received.bootSeconds - missed.aged($0.received).bootSeconds }.max() ?? 0
  }

  /// Makes what was received before as old as it is.
  mutating func age(by missed: MissedTime) {
    let least = missedSeconds(missed)
    for index in tokens.indices { tokens[index].received = missed.applied(to: tokens[index].received) }
    if var login = grant {
      login.refreshTokenReceived = login.refreshTokenReceived.map(missed.applied(to:))
      login.refreshed = login.refreshed.map(missed.applied(to:))
      grant = login
    }
    // The window of reuse counts by the wall clock, too, if that says more.
    if let sent = intent {
      intent?.at = missed.aged(sent.at, least: least)
      intent?.first = sent.first.map { missed.aged($0, least: least) }
    }
  }

  /// A moment of this boot in which a token was received, or a refresh token sent, by a wall clock that was not that of
  /// `now`: it was set since, or the machine stood still. Nil: there is none.
  func datedByAnotherClock(_ now: Moment) -> Moment? {
    let clock = ClockStepDetector(at: now)
    return (tokens.map(\.received) + [intent?.at].compactMap(\.self)).first {
      $0.bootID == now.bootID && clock.hasMoved(at: $0)
    }
  }

  private enum CodingKeys: String, CodingKey {
    case format, name, password, grant, tokens, intent, revocations, registrations, order
    case clientSecret = "client_secret"
    case formerBinding = "former_binding"
    case logoutOrder = "logout_order"
    case formerTokenOrder = "former_token_order"
    case clientSecretPlace = "client_secret_place"
    case passwordPlace = "password_place"
    case clientSecretOrder = "client_secret_order"
    case passwordOrder = "password_order"
  }
}
