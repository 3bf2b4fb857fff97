import AgentWire

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
