import HTTPTerms
import OAuthProtocol
import Sealing

/// Who asks at the token, device, revocation and introspection endpoints (RFC 6749 §2.3).
extension DevAuthorizationServer {
  /// The decoded form of a POST. Throws `invalid_request` for anything else.
  func form(_ request: DevRequest) throws(Refusal) -> Parameters {
    guard request.method == "POST" else {
      throw Refusal("invalid_request", "use POST", status: 405, headers: [HTTPField("Allow", "POST")])
    }
    let type = request.headers.value("Content-Type") ?? ""
    guard type.prefix(while: { $0 != ";" }).lowercased() == FormText.mediaType else {
      throw Refusal("invalid_request", "the body must be \(FormText.mediaType)")
    }
    guard let pairs = FormText.decode(request.body) else {
      throw Refusal("invalid_request", "the form cannot be decoded")
    }
    let parameters = Parameters(pairs: pairs)
    if let repeated = parameters.repeated {
      throw Refusal("invalid_request", "\(repeated) came twice")
    }
    return parameters
  }

  /// The client of `request`: by HTTP Basic with form-encoded name and secret, by the form, or a public one by name.
  func client(of request: DevRequest, _ form: Parameters) throws(Refusal) -> DevClient {
    let fields = request.headers.values("Authorization")
    guard fields.count <= 1 else { throw Refusal("invalid_request", "Authorization came twice") }
    var name = form["client_id"]
    var secret = form["client_secret"]
    if let field = fields.first {
      guard let (basicName, basicSecret) = BasicCredentials.decode(field),
        let decodedName = FormText.percentDecode(Array(basicName.utf8)),
        let decodedSecret = FormText.percentDecode(Array(basicSecret.utf8))
      else { throw invalidClient("the Authorization field is not Basic with a form-encoded name and secret") }
      guard secret == nil else { throw Refusal("invalid_request", "two ways of client authentication at once") }
      guard name == nil || name == decodedName else { throw Refusal("invalid_request", "two different client_id") }
      name = decodedName
      secret = decodedSecret
    }
    guard let name else { throw invalidClient("no client_id") }
    guard let client = options.clients.first(where: { $0.id == name }) else { throw invalidClient("unknown client") }
    switch (client.secret, secret) {
    case (nil, nil), (nil, ""?): return client
    case (nil, _): throw invalidClient("this client has no secret")
    case (_, nil): throw invalidClient("this client must authenticate")
    case (let expected?, let given?):
      guard constantTimeEquals(Array(expected.utf8), Array(given.utf8)) else { throw invalidClient("wrong secret") }
      return client
    }
  }

  private func invalidClient(_ description: String) -> Refusal {
    Refusal(
      "invalid_client", description, status: 401,
      headers: [HTTPField("WWW-Authenticate", "Basic realm=\"dev\"")])
  }

  /// The scopes of a request, or the default ones. Throws `invalid_scope` for one that the server does not know.
  func scope(_ parameters: Parameters) throws(Refusal) -> [String] {
    guard let text = parameters["scope"] else { return options.defaultScope }
    var scope: [String] = []
    for item in text.split(separator: " ").map(String.init) where !scope.contains(item) {
      guard options.scopes.contains(item) else { throw Refusal("invalid_scope", "unknown scope \(item.prefix(64))") }
      scope.append(item)
    }
    guard !scope.isEmpty else { throw Refusal("invalid_scope", "no scope in scope") }
    return scope
  }

  /// `resource` (RFC 8707 §2): absolute, without a fragment. Throws `invalid_target`.
  func resource(_ parameters: Parameters) throws(Refusal) -> [String] {
    let resources = parameters.all("resource")
    for resource in resources where (try? WebURL(resource)) == nil {
      throw Refusal("invalid_target", "resource must be an absolute URI without fragment")
    }
    return resources
  }
}

/// `Basic` credentials (RFC 7617 §2).
enum BasicCredentials {
  /// Name and password of an Authorization value; nil when it is no well-formed Basic one.
  static func decode(_ field: String) -> (name: String, password: String)? {
    let parts = field.split(separator: " ", omittingEmptySubsequences: true)
    guard parts.count == 2, parts[0].lowercased() == "basic" else { return nil }
    // The one base64 at hand is base64url without padding.
    let text = parts[1].replacing("+", with: "-").replacing("/", with: "_")
    let unpadded = text.prefix { $0 != "=" }
    guard text.count.isMultiple(of: 4), text.dropFirst(unpadded.count).allSatisfy({ $0 == "=" }),
      let bytes = Base64URL.decode(String(unpadded)), let decoded = String(validating: bytes, as: UTF8.self),
      let colon = decoded.firstIndex(of: ":")
    else { return nil }
    return (String(decoded[..<colon]), String(decoded[decoded.index(after: colon)...]))
  }
}
