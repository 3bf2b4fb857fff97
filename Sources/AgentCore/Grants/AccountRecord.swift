import AgentWire
package import OAuthTerms
package import Sealing

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
  /// The numbers of the changes that set the two: see ``order``.
  package var clientSecretOrder: UInt64?
  package var passwordOrder: UInt64?
  package var grant: GrantRecord?
  /// What the login was bound to that a logout ended: the next one is compared with it.
  package var formerBinding: DefinitionBinding?
  /// The number of that logout, as ``RevocationRecord/order`` has it, or of the forgetting of the account. Nil: it is from before it
  /// was kept.
  package var logoutOrder: UInt64?
  package var tokens: [TokenRecord] = []
  /// Set before a refresh token is sent, removed with its answer.
  package var intent: RefreshIntent?
  /// What the server has still to be told (RFC 7009).
  package var revocations: [RevocationRecord] = []
  /// Clients that were registered for the account, the last one at the end. Nil: none, as in records from before.
  package var registrations: [ClientRegistrationRecord]?
  /// The number of the last change that somebody made, or of the last token that came. Nil: it is from before they were numbered.
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
    (bare.order, bare.clientSecretOrder, bare.passwordOrder, bare.logoutOrder) = (nil, nil, nil, nil)
    return bare == AccountRecord(name: name)
  }

  /// Gives those that `before` did not have the number `order`.
  mutating func numberSecrets(insteadOf before: AccountRecord?, _ order: UInt64) {
    if clientSecret != before?.clientSecret { clientSecretOrder = clientSecret == nil ? nil : order }
    if password != before?.password { passwordOrder = password == nil ? nil : order }
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

  /// Makes what was received in the boot of `before`, up to then, `seconds` older.
  mutating func age(by seconds: Double, before: Moment) {
    func older(_ moment: inout Moment) {
      if moment.bootID == before.bootID, moment.bootSeconds <= before.bootSeconds { moment.bootSeconds -= seconds }
    }
    for index in tokens.indices { older(&tokens[index].received) }
    if var received = grant?.refreshTokenReceived {
      older(&received)
      grant?.refreshTokenReceived = received
    }
    if var refreshed = grant?.refreshed {
      older(&refreshed)
      grant?.refreshed = refreshed
    }
  }

  private enum CodingKeys: String, CodingKey {
    case format, name, password, grant, tokens, intent, revocations, registrations, order
    case clientSecret = "client_secret"
    case formerBinding = "former_binding"
    case logoutOrder = "logout_order"
    case clientSecretPlace = "client_secret_place"
    case passwordPlace = "password_place"
    case clientSecretOrder = "client_secret_order"
    case passwordOrder = "password_order"
  }
}

/// What the server gave us for an account: the right to ask for tokens.
package struct GrantRecord: Sendable, Equatable, Codable {
  package var kind: GrantKind
  package var refreshToken: StoredSecret?
  /// What a second request with the refresh token before was answered with: used when the server refuses the one above,
  /// and forgotten with the next refresh.
  package var otherRefreshToken: StoredSecret?
  /// The fingerprint of the refresh token that the one above came for; nil: it came with the login, or from before this was kept.
  package var refreshTokenParent: String?
  /// The private key that its tokens are bound to (RFC 9449); nil: to none.
  package var proofKey: StoredSecret?
  /// When the refresh token was received, and the seconds it lives if the server said.
  package var refreshTokenReceived: Moment?
  package var refreshTokenLifeSeconds: Double?
  package var scope: [String]
  /// What the login asked for; nil in records from before this was kept.
  package var askedScope: [String]?
  package var loggedIn: Moment
  /// The number of the login among all logins and logouts of the vault: a greater one came later. Nil: it is from before they
  /// were numbered.
  package var order: UInt64?
  package var refreshed: Moment?
  /// Unix seconds of the last request for a token of this grant, as far as known when it was written.
  package var lastAskedWallSeconds: Double?
  package var binding: DefinitionBinding
  package var verdict: GrantVerdict?
  /// Who has logged in, where the server says so; nil in records from before this was kept, too.
  package var identity: IdentityRecord?
  /// What `RecordStore.rolledBackFrom` was when a person gave this grant its refresh token: it is younger than that
  /// rollback, and older than any other. Nil: there was none.
  package var afterRollback: UInt64?
  /// ``loginID`` of the logins whose tokens it was got for; nil: it is made of none, or the record is from before this was
  /// kept.
  package var lenders: [String]?

  package init(
    kind: GrantKind, refreshToken: StoredSecret?, refreshTokenReceived: Moment?, refreshTokenLifeSeconds: Double?,
    scope: [String], loggedIn: Moment, binding: DefinitionBinding, proofKey: StoredSecret? = nil
  ) {
    self.kind = kind
    self.proofKey = proofKey
    self.refreshToken = refreshToken
    self.refreshTokenReceived = refreshTokenReceived
    self.refreshTokenLifeSeconds = refreshTokenLifeSeconds
    self.scope = scope
    self.loggedIn = loggedIn
    self.binding = binding
  }

  /// One word for this login: another one, of the same account at the same server too, has another.
  var loginID: String {
    var digest = TextDigest("login")
    digest.add([loggedIn.bootID, String(loggedIn.bootSeconds.bitPattern), String(loggedIn.wallSeconds.bitPattern)])
    return digest.hex
  }

  /// The server gave a new refresh token. `lifeSeconds` is its life; nil: the server did not tell.
  /// `parent` is the fingerprint of the one that it came for; nil: a person gave it.
  mutating func take(_ token: Secret, received: Moment, lifeSeconds: Double?, parent: String?) {
    refreshToken = StoredSecret(token)
    refreshTokenParent = parent
    otherRefreshToken = nil
    refreshTokenReceived = received
    refreshTokenLifeSeconds = lifeSeconds
  }

  private enum CodingKeys: String, CodingKey {
    case kind, scope, order, refreshed, binding, verdict, identity, lenders
    case refreshToken = "refresh_token"
    case otherRefreshToken = "other_refresh_token"
    case refreshTokenParent = "refresh_token_parent"
    case proofKey = "proof_key"
    case refreshTokenReceived = "refresh_token_received"
    case refreshTokenLifeSeconds = "refresh_token_life_s"
    case loggedIn = "logged_in"
    case lastAskedWallSeconds = "last_asked_wall_s"
    case afterRollback = "after_rollback"
    case askedScope = "asked_scope"
  }
}

/// What an answer, or none, decided about a grant and what outlives a restart: that it needs a login, or another client.
/// It is sealed with the grant, and never deletes the refresh token.
package struct GrantVerdict: Sendable, Equatable, Codable {
  package enum Kind: String, Sendable, Codable {
    case loginRequired = "login_required"
    case clientRejected = "client_rejected"
  }
  package var kind: Kind
  /// One line for people.
  package var reason: String
  package var oauthError: String?
  package var oauthErrorDescription: String?
  /// No server said it in so many words: asked again by plan, once in a while.
  package var isUnconfirmed: Bool?

  package init(_ kind: Kind, _ reason: String, oauthError: String? = nil, oauthErrorDescription: String? = nil) {
    self.kind = kind
    self.reason = reason
    self.oauthError = oauthError
    self.oauthErrorDescription = oauthErrorDescription
  }

  private enum CodingKeys: String, CodingKey {
    case kind, reason
    case isUnconfirmed = "is_unconfirmed"
    case oauthError = "oauth_error"
    case oauthErrorDescription = "oauth_error_description"
  }
}

/// One access token as it is sealed, with the moment from which its life counts.
package struct TokenRecord: Sendable, Equatable, Codable {
  package var key: TokenKey
  package var accessToken: StoredSecret
  package var tokenType: String
  package var scope: [String]
  /// From before its request was sent.
  package var received: Moment
  /// Seconds, as the server said; nil: it did not.
  package var lifeSeconds: Double?
  /// True: an API has rejected it, and no successor comes, since a login is needed.
  package var isRejected: Bool?

  package init(
    key: TokenKey, accessToken: Secret, tokenType: String, scope: [String], received: Moment, lifeSeconds: Double?
  ) {
    self.key = key
    self.accessToken = StoredSecret(accessToken)
    self.tokenType = tokenType
    self.scope = scope
    self.received = received
    self.lifeSeconds = lifeSeconds
  }

  package var fingerprint: Fingerprint { Fingerprint(of: accessToken.secret) }

  /// Boot time, in the boot of `now`, at which its life ends; nil where the life is not known.
  package func endBootSeconds(at now: Moment) -> Double? {
    guard let lifeSeconds else { return nil }
    if received.bootID == now.bootID { return min(received.bootSeconds, now.bootSeconds) + lifeSeconds }
    // From the future, by the wall clock: one of the two was wrong, and nobody can know how old it is.
    if now.seconds(since: received) < -ClockStepDetector.stepSeconds { return now.bootSeconds }
    return now.bootSeconds + lifeSeconds - now.elapsed(since: received)
  }

  /// Seconds left; nil where the life is not known.
  package func remaining(at now: Moment) -> Double? { endBootSeconds(at: now).map { $0 - now.bootSeconds } }

  private enum CodingKeys: String, CodingKey {
    case key, scope, received
    case accessToken = "access_token"
    case tokenType = "token_type"
    case lifeSeconds = "life_s"
    case isRejected = "rejected"
  }
}

/// Says, durably and before it happens, that a refresh token is being sent.
package struct RefreshIntent: Sendable, Equatable, Codable {
  /// Of the refresh token.
  package var fingerprint: String
  /// Counts the sendings of this refresh token, from 1.
  package var attempt: Int
  /// When the last of them was about to begin.
  package var at: Moment
  /// When the first was; nil: there was one alone.
  package var first: Moment?
  package var endpoint: String

  package init(fingerprint: String, attempt: Int, at: Moment, endpoint: String) {
    self.fingerprint = fingerprint
    self.attempt = attempt
    self.at = at
    self.endpoint = endpoint
  }
}

/// A token that the server has to be told to revoke, or a client that it has to be told to delete, with all that is needed
/// for it.
package struct RevocationRecord: Sendable, Equatable, Codable {
  package var token: StoredSecret
  /// `refresh_token` or `access_token` (RFC 7009 §2.1), or ``registrationHint``.
  package var hint: String
  /// Where the client is deleted whose registration access token this is (RFC 7592 §2.3); nil: a token is to be revoked.
  package var clientURI: String?
  package var binding: DefinitionBinding
  /// The client's at the end of the login, if it is needed: another one may be kept for another server by now.
  package var clientSecret: StoredSecret?
  package var attempts = 0
  package var since: Moment
  /// Seconds after `since` at which the token ends by itself; nil: not known.
  package var lifeSeconds: Double?
  /// Whose token it is; nil: not known.
  package var user: EndUser?
  /// The number of the logout among all logins and logouts of the vault (``GrantRecord/order``): no later login is to end with it.
  /// Nil: it came for a login that was not kept, so that none at all is.
  package var order: UInt64?
  /// As ``GrantRecord/afterRollback``: what an older vault has still to tell is not told before that is accepted.
  package var afterRollback: UInt64?

  package init(token: StoredSecret, hint: String, binding: DefinitionBinding, since: Moment) {
    self.token = token
    self.hint = hint
    self.binding = binding
    self.since = since
  }

  /// Of no revocation endpoint: such a token goes to ``clientURI`` alone.
  static let registrationHint = "registration_access_token"

  /// Seconds after which it is given up: 30 days.
  package static let lifeSeconds = 30.0 * 86_400

  private enum CodingKeys: String, CodingKey {
    case token, hint, binding, attempts, since, user, order
    case clientURI = "client_uri"
    case clientSecret = "client_secret"
    case lifeSeconds = "life_s"
    case afterRollback = "after_rollback"
  }
}
