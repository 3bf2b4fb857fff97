package import HTTPTerms
package import Sealing

/// What is given to the token endpoint for a token.
package enum TokenRequestGrant: Sendable {
  /// RFC 6749 §4.1.3; `redirectURI` is the one of the authorization request, to the byte.
  case authorizationCode(Secret, redirectURI: String, codeVerifier: Secret)
  /// RFC 6749 §6
  case refreshToken(Secret)
  /// RFC 6749 §4.4
  case clientCredentials
  /// RFC 6749 §4.3, for servers that offer nothing else.
  case password(username: String, password: Secret)
  /// RFC 8628 §3.4
  case deviceCode(Secret)

  package var grantType: String {
    switch self {
    case .authorizationCode: "authorization_code"
    case .refreshToken: "refresh_token"
    case .clientCredentials: "client_credentials"
    case .password: "password"
    case .deviceCode: "urn:ietf:params:oauth:grant-type:device_code"
    }
  }
}

/// A request to the token endpoint (RFC 6749 §3.2).
package struct TokenRequest: Sendable {
  package var endpoint: WebURL
  package var client: OAuthClient
  package var grant: TokenRequestGrant
  /// Left out when empty. A refresh normally leaves it out (RFC 6749 §6).
  package var scope: [String]
  /// RFC 8707 §2
  package var resources: [String]
  package var audiences: [String]
  package var extra: [ExtraParameter]

  package init(
    endpoint: WebURL, client: OAuthClient, grant: TokenRequestGrant, scope: [String] = [], resources: [String] = [],
    audiences: [String] = [], extra: [ExtraParameter] = []
  ) {
    self.endpoint = endpoint
    self.client = client
    self.grant = grant
    self.scope = scope
    self.resources = resources
    self.audiences = audiences
    self.extra = extra
  }

  /// Throws ``ProtocolError`` for a reserved, repeated or malformed parameter, a malformed scope or resource.
  package func httpRequest() throws(ProtocolError) -> HTTPRequest {
    try ExtraParameters.checkForToken(extra)
    try RequestedAccess.checkScope(scope)
    try RequestedAccess.checkResources(resources)
    var form = FormParameters()
    form.append("grant_type", grant.grantType)
    switch grant {
    case .authorizationCode(let code, let redirectURI, let verifier):
      form.append("code", code)
      form.append("redirect_uri", redirectURI)
      form.append("code_verifier", verifier)
    case .refreshToken(let token): form.append("refresh_token", token)
    case .clientCredentials: break
    case .password(let username, let password):
      form.append("username", username)
      form.append("password", password)
    case .deviceCode(let code): form.append("device_code", code)
    }
    if !scope.isEmpty { form.append("scope", scope.joined(separator: " ")) }
    for resource in resources { form.append("resource", resource) }
    for audience in audiences { form.append("audience", audience) }
    for parameter in extra { form.append(parameter.name, parameter.value) }
    return .form(endpoint, client: client, form)
  }
}
