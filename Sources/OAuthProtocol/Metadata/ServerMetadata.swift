package import HTTPTerms

/// What an authorization server says of itself (RFC 8414 §2), or what an account says of it.
package struct ServerMetadata: Sendable, Equatable {
  /// Nil only for an account that names its endpoints itself.
  package var issuer: Issuer?
  package var authorizationEndpoint: WebURL?
  package var tokenEndpoint: WebURL
  package var revocationEndpoint: WebURL?
  package var deviceAuthorizationEndpoint: WebURL?
  /// RFC 7591 §3
  package var registrationEndpoint: WebURL?
  /// RFC 9126 §5
  package var pushedAuthorizationRequestEndpoint: WebURL?
  /// Nil: not told.
  package var codeChallengeMethodsSupported: [String]?
  package var tokenEndpointAuthMethodsSupported: [String]?
  package var scopesSupported: [String]?
  /// Whether a client's id may be the URL of its metadata (draft-ietf-oauth-client-id-metadata-document §5).
  package var clientIDMetadataDocumentSupported: Bool
  /// RFC 9207 §3: `iss` must then be present in every authorization response.
  package var authorizationResponseIssParameterSupported: Bool
  package var requirePushedAuthorizationRequests: Bool
  /// RFC 9101 §10.5
  package var requireSignedRequestObject: Bool
  /// Whether its document came from the public internet: then it leads to public addresses alone.
  package var isFromPublicAddress = true
  /// RFC 9449 §5.1. Nil: not told.
  package var proofAlgorithmsSupported: [String]?
  /// Where clients go that prove themselves by a certificate. A failure concerns nobody else.
  package var certificateEndpoints: Result<CertificateEndpoints, MetadataRefusal> = .success(CertificateEndpoints())
  /// RFC 8705 §3.3: it binds tokens to the certificates of clients that were registered so.
  package var certificateBoundAccessTokens = false

  package init(
    issuer: Issuer?, authorizationEndpoint: WebURL?, tokenEndpoint: WebURL, revocationEndpoint: WebURL? = nil,
    deviceAuthorizationEndpoint: WebURL? = nil,
    registrationEndpoint: WebURL? = nil, pushedAuthorizationRequestEndpoint: WebURL? = nil,
    codeChallengeMethodsSupported: [String]? = nil,
    tokenEndpointAuthMethodsSupported: [String]? = nil,
    scopesSupported: [String]? = nil,
    clientIDMetadataDocumentSupported: Bool = false,
    authorizationResponseIssParameterSupported: Bool = false, requirePushedAuthorizationRequests: Bool = false,
    requireSignedRequestObject: Bool = false, proofAlgorithmsSupported: [String]? = nil
  ) {
    self.issuer = issuer
    self.authorizationEndpoint = authorizationEndpoint
    self.tokenEndpoint = tokenEndpoint
    self.revocationEndpoint = revocationEndpoint
    self.deviceAuthorizationEndpoint = deviceAuthorizationEndpoint
    self.registrationEndpoint = registrationEndpoint
    self.pushedAuthorizationRequestEndpoint = pushedAuthorizationRequestEndpoint
    self.codeChallengeMethodsSupported = codeChallengeMethodsSupported
    self.tokenEndpointAuthMethodsSupported = tokenEndpointAuthMethodsSupported
    self.scopesSupported = scopesSupported
    self.clientIDMetadataDocumentSupported = clientIDMetadataDocumentSupported
    self.authorizationResponseIssParameterSupported = authorizationResponseIssParameterSupported
    self.requirePushedAuthorizationRequests = requirePushedAuthorizationRequests
    self.requireSignedRequestObject = requireSignedRequestObject
    self.proofAlgorithmsSupported = proofAlgorithmsSupported
  }
}

/// Why a metadata document cannot be used. Foreign texts in it are escaped.
package enum MetadataRefusal: Error, Sendable, Equatable {
  /// Not a metadata document at all: it may lie in the other place.
  case notMetadata(String)
  case issuerMismatch(expected: String, shown: String)
  case member(name: String, reason: String)
  case tokenEndpointMissing
}

/// What the server wants of authorization requests that we do not do. Other grants are not concerned.
package enum AuthorizationObstacle: Sendable, Equatable {
  /// Code challenge methods are listed, and S256 is not one of them (RFC 9700 §2.1.1). `listed` is escaped.
  case noS256(listed: String)
  /// Only pushed authorization requests (RFC 9126), and no place for them is named.
  case pushedRequests
  /// Only signed request objects (RFC 9101).
  case signedRequests
}

extension ServerMetadata {
  /// Why its authorization endpoint cannot be used; nil: nothing is in the way.
  package var authorizationObstacle: AuthorizationObstacle? {
    if requirePushedAuthorizationRequests, pushedAuthorizationRequestEndpoint == nil { return .pushedRequests }
    if requireSignedRequestObject { return .signedRequests }
    guard let methods = codeChallengeMethodsSupported, !methods.isEmpty, !methods.contains("S256") else { return nil }
    return .noS256(listed: Escaped.serverText(methods.joined(separator: ", "), limit: 80))
  }
}

extension ServerMetadata {
  /// Judges a document that was found for `expected`.
  init(_ body: JSONObject, expected: Issuer) throws(MetadataRefusal) {
    if let problem = body.problem { throw .notMetadata(problem.rawValue) }
    guard let given = body.text("issuer", limit: 4_096) else { throw .notMetadata("it names no issuer") }
    guard expected.matches(given) else {
      throw .issuerMismatch(expected: expected.text, shown: Escaped.forTerminal(given))
    }
    if let name = body.repeated(["issuer"] + Self.endpointNames) {
      throw .member(name: name, reason: "it appears twice")
    }
    func endpoint(_ name: String) throws(MetadataRefusal) -> WebURL? { try Self.endpoint(name, in: body, expected) }
    guard let tokenEndpoint = try endpoint("token_endpoint") else { throw .tokenEndpointMissing }
    self.init(
      issuer: expected, authorizationEndpoint: try endpoint("authorization_endpoint"), tokenEndpoint: tokenEndpoint,
      revocationEndpoint: try endpoint("revocation_endpoint"),
      deviceAuthorizationEndpoint: try endpoint("device_authorization_endpoint"),
      registrationEndpoint: try endpoint("registration_endpoint"),
      pushedAuthorizationRequestEndpoint: try endpoint("pushed_authorization_request_endpoint"),
      codeChallengeMethodsSupported: try Self.list("code_challenge_methods_supported", in: body),
      tokenEndpointAuthMethodsSupported: try Self.list("token_endpoint_auth_methods_supported", in: body),
      scopesSupported: try Self.list("scopes_supported", in: body),
      clientIDMetadataDocumentSupported: try Self.flag("client_id_metadata_document_supported", in: body),
      authorizationResponseIssParameterSupported: try Self.flag(
        "authorization_response_iss_parameter_supported", in: body),
      requirePushedAuthorizationRequests: try Self.flag("require_pushed_authorization_requests", in: body),
      requireSignedRequestObject: try Self.flag("require_signed_request_object", in: body),
      proofAlgorithmsSupported: try Self.list("dpop_signing_alg_values_supported", in: body))
    certificateBoundAccessTokens = (try? Self.flag("tls_client_certificate_bound_access_tokens", in: body)) ?? false
    do throws(MetadataRefusal) {
      certificateEndpoints = .success(try CertificateEndpoints(body, issuer: expected))
    } catch { certificateEndpoints = .failure(error) }
  }

  private static let endpointNames = [
    "authorization_endpoint", "token_endpoint", "revocation_endpoint", "device_authorization_endpoint",
    "registration_endpoint", "pushed_authorization_request_endpoint",
  ]

  static func endpoint(_ name: String, in body: JSONObject, _ issuer: Issuer) throws(MetadataRefusal) -> WebURL? {
    guard let value = body.value(name) else { return nil }
    guard case .string(let secret) = value, let text = secret.text(limit: WebURL.limitBytes) else {
      throw .member(name: name, reason: "it is not a text of at most \(WebURL.limitBytes) bytes")
    }
    let url: WebURL
    do {
      url = try .read(text)
    } catch {
      throw .member(name: name, reason: RequestSecrets([]).cut(from: error.description))
    }
    // A server out there has no business with what listens on this machine.
    guard !url.origin.isThisMachine || issuer.url.origin.isThisMachine else {
      throw .member(name: name, reason: "it lies on this machine's loopback and the issuer does not")
    }
    return url
  }

  /// An array of texts; a single text counts as one. At most 1000.
  private static func list(_ name: String, in body: JSONObject) throws(MetadataRefusal) -> [String]? {
    switch body.value(name) {
    case nil: return nil
    case .string(let text): return text.text(limit: 1_024).map { [$0] } ?? []
    case .array(let values):
      return values.prefix(1_000).compactMap { value in
        if case .string(let text) = value { text.text(limit: 1_024) } else { nil }
      }
    default: throw .member(name: name, reason: "it is not a list of texts")
    }
  }

  private static func flag(_ name: String, in body: JSONObject) throws(MetadataRefusal) -> Bool {
    switch body.value(name) {
    case nil: false
    case .bool(let flag): flag
    default: throw .member(name: name, reason: "it is neither true nor false")
    }
  }
}

extension MetadataRefusal: CustomStringConvertible {
  package var description: String {
    switch self {
    case .notMetadata(let reason): "the document is no server metadata: \(reason)"
    case .issuerMismatch(let expected, let shown):
      "the document is for the issuer \"\(shown)\", not \"\(expected)\"; use the issuer as the server spells it"
    case .member(let name, let reason): "its \(name) is refused: \(reason)"
    case .tokenEndpointMissing: "it names no token_endpoint"
    }
  }
}

extension AuthorizationObstacle: CustomStringConvertible {
  package var description: String {
    switch self {
    case .noS256(let listed): "it supports only these code challenge methods: \(listed); S256 is needed"
    case .pushedRequests: "it takes only pushed authorization requests (RFC 9126), and does not say where"
    case .signedRequests: "it takes only signed request objects (RFC 9101), which are not supported here"
    }
  }
}
