/// What a user, or a client for itself, gave: the family that all tokens of one login belong to.
struct Grant {
  var clientID: String
  var subject: String
  var scope: [String]
  var resource: [String]
  /// Of the authorization request; ID tokens repeat it.
  var nonce: String?
  /// When its subject logged in, Unix seconds.
  var authenticatedAt: Double = 0
  var isRevoked = false
}

struct AccessToken {
  var grant: Int
  var scope: [String]
  var issuedAt: Double
  var expiresAt: Double
  var isRevoked = false
}

struct RefreshToken {
  var grant: Int
  var expiresAt: Double
  /// When it was first used, where refresh tokens rotate.
  var usedAt: Double?
}

/// An authorization code and what it is bound to (RFC 6749 §4.1.2, RFC 7636 §4.4).
struct AuthorizationCode {
  var request: AuthorizationRequest
  var subject: String
  /// When the subject logged in.
  var authenticatedAt: Double
  var expiresAt: Double
  /// The grant its first use made.
  var grant: Int?
}

/// An authorization request that passed its checks and waits for the user.
struct AuthorizationRequest {
  var clientID: String
  var redirectURI: String
  /// Whether the request named it, so that the token request must, too (RFC 6749 §4.1.3).
  var namedRedirectURI: Bool
  var scope: [String]
  var resource: [String]
  var state: String?
  var nonce: String?
  var codeChallenge: String
  var subject: String?
  var expiresAt: Double
}

/// A device code (RFC 8628).
struct DeviceAuthorization {
  enum Decision { case pending, allowed(subject: String), denied, used }

  var clientID: String
  var userCode: String
  var scope: [String]
  var resource: [String]
  var expiresAt: Double
  var intervalSeconds: Double
  var lastPollAt: Double?
  var decision = Decision.pending
  /// Who logged in on the device page, before the decision.
  var subject: String?
}
