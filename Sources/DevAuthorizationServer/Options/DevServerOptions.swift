import HTTPTerms

/// What becomes of a refresh token that was used (RFC 9700 §4.14.2).
package enum DevRotation: Sendable, Equatable {
  /// A new one with every refresh; use of an old one revokes the whole family.
  case strict
  /// As `strict`, but an old one may be used again for so many seconds after its first use.
  case grace(seconds: Double)
  /// The refresh token stays, and answers leave it out (RFC 6749 §6).
  case none

  /// `strict`, `none` or `grace=SECONDS`; nil for anything else.
  package init?(_ text: String) {
    switch text {
    case "strict": self = .strict
    case "none": self = .none
    default:
      guard text.hasPrefix("grace="), let seconds = Double(text.dropFirst(6)), seconds.isFinite, seconds >= 0
      else { return nil }
      self = .grace(seconds: seconds)
    }
  }
}

/// Parts of the server that can be delayed and scripted; the raw value is their name in the log and on `/_dev/script`.
package enum DevEndpoint: String, Sendable, CaseIterable {
  /// Both discovery documents and the (empty) key set.
  case metadata
  case authorize
  case token
  case deviceAuthorization = "device_authorization"
  /// The page where a person types the user code.
  case device
  case revoke
  case introspect
  case userinfo
  /// `/api/…`: what the access tokens are for.
  case resource
  case git
  case other
}

/// Everything that can be set about the server, at start or later.
package struct DevServerOptions: Sendable {
  /// Issuer identifier: `http://127.0.0.1:PORT`, with a path or without, no trailing slash (RFC 8414 §2).
  package var issuer: String
  /// The issuer's path without a final slash: empty where it has none.
  var issuerPath: Substring {
    let path = (try? WebURL(issuer))?.path ?? ""
    return path.hasSuffix("/") ? path.dropLast() : path[...]
  }
  package var clients = DevClient.standard
  /// Names that may log in, with any password but an empty one and `wrong`.
  package var users = ["alice"]
  /// Scopes that may be asked for; others are `invalid_scope`.
  package var scopes = [
    "openid", "profile", "email", "offline_access", "read", "write", "read_repository", "write_repository",
  ]
  /// Granted when a request names no scope.
  package var defaultScope = ["read"]

  package var accessTokenLifeSeconds: Double = 60
  /// Counted anew for every refresh token.
  package var refreshTokenLifeSeconds: Double = 86_400
  package var codeLifeSeconds: Double = 60
  package var deviceCodeLifeSeconds: Double = 600
  /// Least seconds between two polls of one device code (RFC 8628 §3.2).
  package var deviceIntervalSeconds: Double = 5
  package var rotation = DevRotation.strict
  /// A refresh kills the access tokens given before, too.
  package var refreshRevokesAccessTokens = false
  /// Answers leave `expires_in` out; the token expires all the same.
  package var omitExpiresIn = false
  /// Seconds that ID tokens live.
  package var idTokenLifeSeconds: Double = 3_600
  /// Logins by browser ride on a session that began so many seconds ago, whatever `max_age` asks for.
  package var sessionAgeSeconds: Double = 0
  /// Whether a refresh of a grant with `openid` brings one, which is the server's choice (OpenID Connect Core 1.0 §12.2).
  package var refreshGivesIDToken = true
  /// Claims of ID tokens that are written otherwise; nil: left out.
  package var idTokenClaims: [String: String?] = [:]
  /// Put before every access token.
  package var tokenPrefix = ""
  /// Random characters of an access token, 8 to 65,536.
  package var tokenLength = 43

  /// `/authorize` and the device page allow at once, as the first of `users`, without a page.
  package var autoConsent = false
  /// Authorization responses carry `iss`, and the metadata says so (RFC 9207).
  package var sendsIssuer = true
  package var servesOpenIDMetadata = true
  package var servesOAuthMetadata = true
  /// Schemes that git requests may use and that their 401 offers, one header field each.
  package var gitSchemes = ["Basic", "Bearer"]
  /// Answers say that the server's clock is so many seconds ahead.
  package var clockSkewSeconds: Double = 0
  /// Milliseconds that answers of an endpoint take, 0 to 600,000.
  package var delayMilliseconds: [DevEndpoint: Int] = [:]

  package init(issuer: String = "http://127.0.0.1:8080") {
    self.issuer = issuer
  }
}
