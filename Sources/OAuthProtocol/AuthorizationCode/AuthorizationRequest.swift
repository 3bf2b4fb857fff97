package import HTTPTerms
package import Sealing

/// An authorization request (RFC 6749 §4.1.1, RFC 7636 §4.3, RFC 8707 §2): the URL a browser opens, with all of it or with
/// the name that the server gave it when it was pushed (RFC 9126).
package struct AuthorizationRequest: Sendable {
  package var endpoint: WebURL
  package var clientID: String
  /// Exactly what the token request will repeat: ``RedirectURI/parameter(port:)``.
  package var redirectURI: String
  package var scope: [String]
  package var scopeSeparator = ScopeSeparator.blank
  package var state: Secret
  /// S256 challenge.
  package var codeChallenge: String
  package var nonce: String?
  /// `dpop_jkt`, the thumbprint of the key that the code is bound to (RFC 9449 §10); nil: to none.
  package var proofThumbprint: String?
  package var resources: [String]
  package var audiences: [String]
  package var extra: [ExtraParameter]

  package init(
    endpoint: WebURL, clientID: String, redirectURI: String, scope: [String], state: Secret, codeChallenge: String,
    nonce: String? = nil, proofThumbprint: String? = nil, resources: [String] = [], audiences: [String] = [],
    extra: [ExtraParameter] = []
  ) {
    self.endpoint = endpoint
    self.clientID = clientID
    self.redirectURI = redirectURI
    self.scope = scope
    self.state = state
    self.codeChallenge = codeChallenge
    self.nonce = nonce
    self.proofThumbprint = proofThumbprint
    self.resources = resources
    self.audiences = audiences
    self.extra = extra
  }

  /// The URL to open. It holds `state`, which other local users may see in a process list; PKCE does not depend on it.
  ///
  /// Throws ``ProtocolError`` for a reserved, repeated or malformed parameter, a malformed scope or resource.
  package func url() throws(ProtocolError) -> String { try endpoint.appendingQuery(try parameters()) }

  /// The URL to open when the server has taken the request as `requestURI` (RFC 9126 §4): it holds nothing of the request.
  package func url(pushedAs requestURI: String) throws(ProtocolError) -> String {
    var parameters = FormParameters()
    parameters.append("client_id", clientID)
    parameters.append("request_uri", requestURI)
    return try endpoint.appendingQuery(parameters)
  }

  /// Throws as ``url()``.
  func parameters() throws(ProtocolError) -> FormParameters {
    try ExtraParameters.checkForAuthorization(extra)
    try RequestedAccess.checkScope(scope)
    try RequestedAccess.checkResources(resources)
    var parameters = FormParameters()
    parameters.append("response_type", "code")
    parameters.append("client_id", clientID)
    parameters.append("redirect_uri", redirectURI)
    if !scope.isEmpty { parameters.append("scope", scopeSeparator.joined(scope)) }
    parameters.append("state", state)
    if let nonce { parameters.append("nonce", nonce) }
    parameters.append("code_challenge", codeChallenge)
    parameters.append("code_challenge_method", "S256")
    if let proofThumbprint { parameters.append("dpop_jkt", proofThumbprint) }
    for resource in resources { parameters.append("resource", resource) }
    for audience in audiences { parameters.append("audience", audience) }
    for parameter in extra { parameters.append(parameter.name, parameter.value) }
    return parameters
  }
}
