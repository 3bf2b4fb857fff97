package import HTTPTerms

/// A request to the token endpoint (RFC 6749 §3.2).
package struct TokenRequest: Sendable {
  package var endpoint: WebURL
  package var client: OAuthClient
  package var grant: TokenRequestGrant
  /// Left out when empty. A refresh normally leaves it out (RFC 6749 §6).
  package var scope: [String]
  package var scopeSeparator = ScopeSeparator.blank
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
    var form = FormParameters()
    form.append("grant_type", grant.type)
    form.append(grant.parameters)
    try form.append(scope: scope, scopeSeparator, resources: resources, audiences: audiences, extra: extra)
    return .form(endpoint, client: client, form)
  }
}
