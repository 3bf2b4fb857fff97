/// Kinds of tokens that one account lends another, by the last word of their URIs (RFC 8693 §3).
package enum TokenKind: String, Sendable, Codable, CaseIterable {
  case accessToken = "access_token"
  case idToken = "id_token"
  /// An access token of which the server is told that it is a JWT.
  case jwt

  /// As requests and answers name it.
  package var uri: String { Self.prefix + rawValue }

  package static let prefix = "urn:ietf:params:oauth:token-type:"
  /// What the first leg of an identity assertion grant asks for.
  package static let identityAssertionURI = prefix + "id-jag"
  /// What no resource takes, and whoever is given it could do more with than with an access token.
  package static let refreshTokenURI = prefix + "refresh_token"
}
