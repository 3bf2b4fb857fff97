package import HTTPTerms
import JSONCoding
import OAuthTerms
package import Sealing

/// Dynamic client registration (RFC 7591): a native, public client that asks for refresh tokens.
package struct ClientRegistration: Sendable {
  package var endpoint: WebURL
  /// The redirect of the login, port included: many servers compare it to the letter.
  package var redirectURI: String
  /// Whether logins will be by a code that is typed on another device (RFC 8628).
  package var isForDevices: Bool
  package var scope: [String]
  /// Whether it will ask for tokens that are bound to a key alone (RFC 9449 §5.2).
  package var usesDPoP: Bool

  package init(
    endpoint: WebURL, redirectURI: String, isForDevices: Bool, scope: [String], usesDPoP: Bool = false
  ) {
    self.usesDPoP = usesDPoP
    self.endpoint = endpoint
    self.redirectURI = redirectURI
    self.isForDevices = isForDevices
    self.scope = scope
  }

  private struct Body: Encodable {
    var clientName = ClientMetadata.clientName
    var redirectURIs: [String]
    var grantTypes: [String]
    var responseTypes = ["code"]
    var authentication = "none"
    /// OpenID Connect Dynamic Client Registration §2; servers of MCP need it for a redirect on loopback.
    var applicationType = "native"
    var scope: String?
    var usesDPoP: Bool?

    enum CodingKeys: String, CodingKey {
      case scope
      case clientName = "client_name"
      case redirectURIs = "redirect_uris"
      case grantTypes = "grant_types"
      case responseTypes = "response_types"
      case authentication = "token_endpoint_auth_method"
      case applicationType = "application_type"
      case usesDPoP = "dpop_bound_access_tokens"
    }
  }

  package func httpRequest() -> HTTPRequest {
    let body = Body(
      redirectURIs: [redirectURI],
      grantTypes: [
        isForDevices ? "urn:ietf:params:oauth:grant-type:device_code" : "authorization_code", "refresh_token",
      ],
      scope: scope.isEmpty ? nil : scope.joined(separator: " "), usesDPoP: usesDPoP ? true : nil)
    return HTTPRequest(
      .post, endpoint.text,
      headers: [HTTPField("Content-Type", "application/json"), HTTPField("Accept", "application/json")],
      body: Secret((try? JSONWriter.bytes(of: body)) ?? []))
  }
}

/// What the server made of it.
package struct RegisteredClient: Sendable {
  /// 1…``idLimit`` printable ASCII characters.
  package var id: String
  /// Some servers give one although none was asked for. Without control characters.
  package var secret: Secret?
  /// `token_endpoint_auth_method`; nil: the answer did not say.
  package var authentication: String?
  /// Nil: it cannot be deleted by this client, or not without harm.
  package var management: ClientManagement?
  /// Why what the answer says of that is not kept, escaped; nil: it is, or there is nothing.
  package var managementProblem: String?

  /// Longest client id, bytes: some servers use URLs or JWTs as ids, and it stands in an account's file.
  package static let idLimit = 1_024
  /// Longest client secret, bytes: a JWT as a secret fits.
  private static let secretLimit = 4_096

  /// Throws ``RegistrationRefusal``.
  package init(judging answer: HTTPAnswer, of registration: ClientRegistration) throws(RegistrationRefusal) {
    let body = JSONObject(reading: answer.body)
    guard answer.status == 201 || answer.status == 200 else {
      guard body.problem == nil, let error = OAuthError(body, hiding: RequestSecrets([])) else {
        throw .status(answer.status)
      }
      throw .refused(error)
    }
    if let problem = body.problem { throw .malformed(problem.rawValue) }
    if let name = body.repeated(["client_id", "client_secret", "redirect_uris"]) {
      throw .malformed("\(name) appears twice")
    }
    guard let id = body.text("client_id", limit: Self.idLimit), !id.isEmpty,
      id.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { throw .malformed("it holds no usable client_id") }
    if case .array(let values)? = body.value("redirect_uris") {
      let isOurs = values.contains { value in
        if case .string(let text) = value {
          text.text(limit: WebURL.limitBytes) == registration.redirectURI
        } else {
          false
        }
      }
      guard isOurs else { throw .otherRedirect }
    }
    self.id = id
    // Empty: none, as some servers say it.
    if case .string(let secret)? = body.value("client_secret"), !secret.isEmpty {
      guard let text = secret.text(limit: Self.secretLimit) else { throw .malformed("its client_secret is too long") }
      // As for one that a person gives: it could not be kept.
      guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
        throw .malformed("its client_secret holds a control character")
      }
      self.secret = secret
    }
    authentication = body.text("token_endpoint_auth_method", limit: 64)
    // None was registered, so no login would be taken.
    if let method = authentication.flatMap(ClientAuthenticationMethod.init(rawValue:)),
      method.proof?.isPrivateKey == true
    {
      throw .malformed("it has the client prove itself by \(method.rawValue), for which no key was registered")
    }
    switch ClientManagement.read(body, from: registration.endpoint) {
    case .absent: break
    case .found(let found): management = found
    case .refused(let reason): managementProblem = reason
    }
  }
}

/// Why there is no client. Foreign texts in it are escaped.
package enum RegistrationRefusal: Error, Sendable, Equatable, CustomStringConvertible {
  case refused(OAuthError)
  case status(Int)
  case malformed(String)
  /// The server wrote down a redirect that a login would not use.
  case otherRedirect

  package var description: String {
    switch self {
    case .refused(let error): "the server refused to register a client: \(error.told)"
    case .status(let status): "the server refused to register a client with status \(status)"
    case .malformed(let reason): "the server's answer about the new client cannot be used: \(reason)"
    case .otherRedirect: "the server registered another redirect address than it was asked for"
    }
  }

  /// Whether trying again later may help.
  package var isTransient: Bool {
    switch self {
    case .status(let status): status == 429 || status >= 500
    case .refused(let error): error.meaning == .transient
    case .malformed, .otherRedirect: false
    }
  }
}
