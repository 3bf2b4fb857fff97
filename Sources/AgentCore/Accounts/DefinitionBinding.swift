package import AgentWire
package import OAuthTerms
import Sealing

/// The sealed copy of what decides where secrets go. A definition file that differs from it moves no secret until a new
/// login or `oauthctl account accept`.
package struct DefinitionBinding: Sendable, Equatable, Codable {
  package var issuer: String
  package var clientID: String
  /// A ``ClientAuthenticationMethod``, as used.
  package var clientAuthentication: String
  /// Nil: the issuer.
  package var assertionAudience: AssertionAudience?
  /// Whether tokens are bound to a key (RFC 9449); nil: no.
  package var dpop: Bool?
  package var tokenEndpoint: String
  package var authorizationEndpoint: String?
  package var deviceAuthorizationEndpoint: String?
  package var revocationEndpoint: String?
  /// Nil where authorization requests are not pushed.
  package var pushedAuthorizationRequestEndpoint: String?
  package var redirectURI: String
  /// Canonical origins.
  package var hosts: [String]
  package var certificateAuthorityFile: String?
  package var certificateAuthorityDigest: String?
  package var proxy: String?
  package var tokenParameters: [String: String]
  /// Grants that ask anew without a person only; nil in records that do not know it.
  package var request: UnattendedRequest?
  /// Nil in records that do not know it: what the file says counts.
  package var resending: ResendPolicy?
  /// Endpoints of these whose requests go to public addresses alone, until they have answered or a person has agreed to them
  /// (``NamedHosts``). No part of what is agreed to, so of neither digest nor differences. Nil: none, or not known.
  package var publicOnly: [String]?

  package init(
    issuer: String, clientID: String, clientAuthentication: String, tokenEndpoint: String,
    authorizationEndpoint: String?, deviceAuthorizationEndpoint: String?, revocationEndpoint: String?,
    redirectURI: String, hosts: [String], certificateAuthorityFile: String?, certificateAuthorityDigest: String?,
    proxy: String?, tokenParameters: [String: String], request: UnattendedRequest? = nil,
    resending: ResendPolicy? = nil, pushedAuthorizationRequestEndpoint: String? = nil,
    assertionAudience: AssertionAudience? = nil, publicOnly: [String]? = nil, dpop: Bool? = nil
  ) {
    self.issuer = issuer
    self.clientID = clientID
    self.clientAuthentication = clientAuthentication
    self.assertionAudience = assertionAudience
    self.dpop = dpop
    self.tokenEndpoint = tokenEndpoint
    self.authorizationEndpoint = authorizationEndpoint
    self.deviceAuthorizationEndpoint = deviceAuthorizationEndpoint
    self.revocationEndpoint = revocationEndpoint
    self.redirectURI = redirectURI
    self.hosts = hosts
    self.certificateAuthorityFile = certificateAuthorityFile
    self.certificateAuthorityDigest = certificateAuthorityDigest
    self.proxy = proxy
    self.tokenParameters = tokenParameters
    self.request = request
    self.resending = resending
    self.pushedAuthorizationRequestEndpoint = pushedAuthorizationRequestEndpoint
    self.publicOnly = publicOnly
  }

  /// An endpoint that gave a login is the one that was meant, wherever it is next time: some names lead to a company's network
  /// from within, and to the public one from outside.
  package mutating func hasAnswered(_ endpoint: String) {
    publicOnly?.removeAll { $0 == endpoint }
    if publicOnly?.isEmpty == true { publicOnly = nil }
  }

  /// What a definition is compared with that nobody has logged in by.
  package static let nothing = DefinitionBinding(
    issuer: "", clientID: "", clientAuthentication: "", tokenEndpoint: "", authorizationEndpoint: nil,
    deviceAuthorizationEndpoint: nil, revocationEndpoint: nil, redirectURI: "", hosts: [],
    certificateAuthorityFile: nil, certificateAuthorityDigest: nil, proxy: nil, tokenParameters: [:])

  /// How `definition` differs. Endpoints that the definition leaves to discovery stay as they were bound at login.
  package func differences(from definition: AccountDefinition) -> [DefinitionDifference] {
    var found: [DefinitionDifference] = []
    func compare(_ key: String, _ was: String?, _ now: String?) {
      if let difference = DefinitionDifference(key, from: was, to: now) { found.append(difference) }
    }
    func compareIfSet(_ key: String, _ was: String?, _ now: String?) {
      if let now { compare(key, was, now) }
    }
    compare("issuer", issuer, definition.issuer)
    compare("client_id", clientID, definition.clientID)
    compareIfSet("client_authentication", clientAuthentication, definition.clientAuthentication)
    compare("assertion_audience", assertionAudience?.rawValue, definition.assertionAudience?.rawValue)
    compare("dpop", Self.word(isBound), Self.word(definition.usesDPoP))
    compareIfSet("authorization_endpoint", authorizationEndpoint, definition.authorizationEndpoint)
    compareIfSet("token_endpoint", tokenEndpoint, definition.tokenEndpoint)
    compareIfSet(
      "device_authorization_endpoint", deviceAuthorizationEndpoint, definition.deviceAuthorizationEndpoint)
    compareIfSet("revocation_endpoint", revocationEndpoint, definition.revocationEndpoint)
    compareIfSet(
      "pushed_authorization_request_endpoint", pushedAuthorizationRequestEndpoint,
      definition.pushedAuthorizationRequestEndpoint)
    compare("redirect_uri", redirectURI, definition.redirectURI)
    compare("hosts", hosts.sorted().joined(separator: " "), definition.origins.sorted().joined(separator: " "))
    compare("ca_file", certificateAuthorityFile, definition.certificateAuthorityFile)
    compare(Self.authorityContent, certificateAuthorityDigest, definition.certificateAuthorityDigest)
    compare("proxy", proxy, definition.proxy)
    compare("token_parameters", Self.line(tokenParameters), Self.line(definition.tokenParameters))
    if let request, let now = UnattendedRequest(definition) { found += request.differences(from: now) }
    if let resending { found += resending.differences(from: ResendPolicy(definition)) }
    return found
  }

  /// The key of a difference in what the private authority's file holds.
  static let authorityContent = "ca_file (content)"

  /// Whether its tokens are worth nothing without proofs by a key.
  package var isBound: Bool { dpop == true }

  /// As an account file spells it.
  static func word(_ flag: Bool) -> String { flag ? "true" : "false" }

  /// How its client proves itself; nil: in a way that this version does not know.
  var method: ClientAuthenticationMethod? { ClientAuthenticationMethod(rawValue: clientAuthentication) }

  /// Whether requests to its server carry the client secret.
  package var sendsClientSecret: Bool { method?.needsSecret ?? true }

  /// Whether requests to its server hold something that is signed with their time.
  var datesRequests: Bool { method?.signs == true || isBound }

  /// The issuer's host, for messages.
  package var issuerHost: String { AccountDefinition.host(ofIssuer: issuer) }

  /// The host that the private authority counts for, on any port: the issuer's; nil: there is none.
  var authorityHost: String? { certificateAuthorityDigest.map { _ in issuerHost } }

  /// One line that no other parameters have.
  static func line(_ parameters: [String: String]) -> String {
    parameters.sorted { $0.key < $1.key }.map { "\(escaped($0.key, "%&="))=\(escaped($0.value, "%&"))" }
      .joined(separator: "&")
  }

  /// `text` with each of `characters`, ASCII ones, percent-encoded. An accent behind one of them does not hide it.
  static func escaped(_ text: String, _ characters: String) -> String {
    let bytes = text.utf8.flatMap { byte in
      characters.utf8.contains(byte) ? Array(("%" + Hex.encode([byte]).uppercased()).utf8) : [byte]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private enum CodingKeys: String, CodingKey {
    case issuer, hosts, proxy, request, resending, dpop
    case clientID = "client_id"
    case clientAuthentication = "client_authentication"
    case assertionAudience = "assertion_audience"
    case tokenEndpoint = "token_endpoint"
    case authorizationEndpoint = "authorization_endpoint"
    case deviceAuthorizationEndpoint = "device_authorization_endpoint"
    case revocationEndpoint = "revocation_endpoint"
    case pushedAuthorizationRequestEndpoint = "pushed_authorization_request_endpoint"
    case redirectURI = "redirect_uri"
    case certificateAuthorityFile = "ca_file"
    case certificateAuthorityDigest = "ca_digest"
    case tokenParameters = "token_parameters"
    case publicOnly = "public_only"
  }
}

extension GrantKind {
  /// Whether the grant itself is an assertion that is signed with the time (RFC 7523 §2.1).
  var signs: Bool { terms.need == .privateKey }
}

extension GrantRecord {
  /// Whether what is asked for by it is signed with its server's time.
  var datesRequests: Bool { binding.datesRequests || kind.signs }
}

extension DefinitionBinding {
  /// Whether both are of one server, as far as its addresses say.
  func isAtServer(of other: DefinitionBinding) -> Bool {
    issuer == other.issuer || tokenEndpoint == other.tokenEndpoint
  }
}
