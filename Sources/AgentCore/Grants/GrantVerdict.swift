import AgentWire

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
