package import HTTPTerms

/// Endpoints of a server for clients that prove themselves by a certificate, beside those for all others: asking a browser
/// for a certificate has it ask its user (`mtls_endpoint_aliases`, RFC 8705 §5).
package struct CertificateEndpoints: Sendable, Equatable {
  /// Each is nil where the server names none: then the one for all is meant.
  package var token: WebURL?
  package var revocation: WebURL?
  package var deviceAuthorization: WebURL?
  package var pushedAuthorizationRequest: WebURL?

  package init() {}

  private static let member = "mtls_endpoint_aliases"

  /// Reads those of the metadata document `body`, which was found for `issuer`.
  init(_ body: JSONObject, issuer: Issuer) throws(MetadataRefusal) {
    guard let value = body.value(Self.member) else { return }
    guard case .object(let members) = value else { throw .member(name: Self.member, reason: "it is no object") }
    let aliases = JSONObject(members)
    let names = [
      "token_endpoint", "revocation_endpoint", "device_authorization_endpoint", "pushed_authorization_request_endpoint",
    ]
    if body.repeated([Self.member]) != nil || aliases.repeated(names) != nil {
      throw .member(name: Self.member, reason: "it, or a name in it, appears twice")
    }
    token = try ServerMetadata.endpoint(names[0], in: aliases, issuer)
    revocation = try ServerMetadata.endpoint(names[1], in: aliases, issuer)
    deviceAuthorization = try ServerMetadata.endpoint(names[2], in: aliases, issuer)
    pushedAuthorizationRequest = try ServerMetadata.endpoint(names[3], in: aliases, issuer)
  }
}

extension ServerMetadata {
  /// What it says to a client that proves itself by a certificate.
  package func forCertificates() throws(MetadataRefusal) -> ServerMetadata {
    let endpoints = try certificateEndpoints.get()
    var metadata = self
    metadata.tokenEndpoint = endpoints.token ?? tokenEndpoint
    metadata.revocationEndpoint = endpoints.revocation ?? revocationEndpoint
    metadata.deviceAuthorizationEndpoint = endpoints.deviceAuthorization ?? deviceAuthorizationEndpoint
    metadata.pushedAuthorizationRequestEndpoint =
      endpoints.pushedAuthorizationRequest ?? pushedAuthorizationRequestEndpoint
    return metadata
  }
}
