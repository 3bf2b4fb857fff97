import AgentWire
package import OAuthTerms
import Sealing

/// What the server gave us for an account: the right to ask for tokens.
package struct GrantRecord: Sendable, Equatable, Codable {
  package var kind: GrantKind
  package var refreshToken: StoredSecret?
  /// What a second request with the refresh token before was answered with: used when the server refuses the one above,
  /// and forgotten with the next refresh.
  package var otherRefreshToken: StoredSecret?
  /// The fingerprint of the refresh token that the one above came for; nil: it came with the login, or from before this was kept.
  package var refreshTokenParent: String?
  /// The fingerprint of the refresh token that a person has given for this login; nil: none was, or it is from before this was
  /// kept.
  package var givenToken: String?
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
  /// The number of the last token that came, or that a person gave or took out; nil: it is from before they were numbered.
  package var tokenOrder: UInt64?
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
    case givenToken = "given_token"
    case proofKey = "proof_key"
    case refreshTokenReceived = "refresh_token_received"
    case refreshTokenLifeSeconds = "refresh_token_life_s"
    case loggedIn = "logged_in"
    case lastAskedWallSeconds = "last_asked_wall_s"
    case afterRollback = "after_rollback"
    case tokenOrder = "token_order"
    case askedScope = "asked_scope"
  }
}
