import HTTPTerms

/// What a client may ask the token endpoint for, spelled as `grant_type` (RFC 6749 §4, RFC 8628 §3.4, RFC 8693 §2.1).
package enum DevGrantType: String, Sendable, CaseIterable {
  case authorizationCode = "authorization_code"
  case refreshToken = "refresh_token"
  case clientCredentials = "client_credentials"
  case password
  case deviceCode = "urn:ietf:params:oauth:grant-type:device_code"
  case tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
}

/// One registered client (RFC 6749 §2).
package struct DevClient: Sendable {
  package var id: String
  /// Nil: a public client.
  package var secret: String?
  package var grantTypes: Set<DevGrantType>
  /// Compared as strings; on a loopback host any port fits (RFC 8252 §7.3).
  package var redirectURIs: [String]

  package init(id: String, secret: String? = nil, grantTypes: Set<DevGrantType>, redirectURIs: [String] = []) {
    self.id = id
    self.secret = secret
    self.grantTypes = grantTypes
    self.redirectURIs = redirectURIs
  }

  /// Redirect URIs of a program on the user's own machine.
  package static let loopbackRedirects = [
    "http://127.0.0.1/callback", "http://[::1]/callback", "http://localhost/callback",
  ]

  /// `dev` (public) and `dev-web` (confidential) log in by browser, `dev-machine` as itself, `dev-tv` by device code,
  /// `dev-legacy` by password, `dev-exchange` for the tokens of others; `dev-api` only introspects. A confidential
  /// client's secret is its name and `-secret`.
  package static let standard = [
    DevClient(
      id: "dev", grantTypes: [.authorizationCode, .refreshToken, .deviceCode], redirectURIs: loopbackRedirects),
    DevClient(
      id: "dev-web", secret: "dev-web-secret", grantTypes: [.authorizationCode, .refreshToken],
      redirectURIs: loopbackRedirects),
    DevClient(id: "dev-machine", secret: "dev-machine-secret", grantTypes: [.clientCredentials]),
    DevClient(id: "dev-tv", grantTypes: [.deviceCode, .refreshToken]),
    DevClient(id: "dev-legacy", grantTypes: [.password, .refreshToken]),
    DevClient(id: "dev-exchange", secret: "dev-exchange-secret", grantTypes: [.tokenExchange]),
    DevClient(id: "dev-api", secret: "dev-api-secret", grantTypes: []),
  ]

  /// Whether `uri` is one of the registered ones, the port of a loopback address left out of the comparison.
  package func allows(redirectURI uri: String) -> Bool {
    redirectURIs.contains { registered in
      if registered == uri { return true }
      // http is accepted on loopback only.
      guard let ours = try? WebURL(registered), let theirs = try? WebURL(uri), theirs.origin.scheme == .http else {
        return false
      }
      return ours.origin.scheme == .http && ours.origin.host == theirs.origin.host && ours.path == theirs.path
        && ours.query == theirs.query
    }
  }
}
