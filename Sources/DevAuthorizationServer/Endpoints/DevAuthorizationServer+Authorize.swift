/// The authorization endpoint and its pages (RFC 6749 §4.1.1, RFC 7636 §4.3, RFC 9207).
extension DevAuthorizationServer {
  /// Seconds that a person has for login and consent.
  private static let pendingLifeSeconds: Double = 600

  mutating func authorize(_ request: DevRequest, at now: Double) -> DevResponse {
    guard request.method == "GET" else { return .methodNotAllowed("GET") }
    guard let pairs = FormText.decode(Array(request.query.utf8)) else {
      return Page.problem(400, "The query of this address cannot be decoded.")
    }
    let query = Parameters(pairs: pairs)
    // Without a trusted place to go back to, errors are shown here (RFC 6749 §4.1.2.1).
    if let name = query.repeated { return Page.problem(400, "The parameter \(name) came twice.") }
    guard let client = options.clients.first(where: { $0.id == query["client_id"] }) else {
      return Page.problem(400, "Unknown client_id.")
    }
    guard let redirectURI = query["redirect_uri"] ?? (client.redirectURIs.count == 1 ? client.redirectURIs[0] : nil),
      client.allows(redirectURI: redirectURI)
    else { return Page.problem(400, "This redirect_uri is not registered for \(client.id).") }

    var authorization = AuthorizationRequest(
      clientID: client.id, redirectURI: redirectURI, namedRedirectURI: query["redirect_uri"] != nil, scope: [],
      resource: [], state: query["state"], nonce: query["nonce"], codeChallenge: "",
      expiresAt: now + Self.pendingLifeSeconds)
    do throws(Refusal) {
      try check(query, client)
      authorization.scope = try scope(query)
      authorization.resource = try resource(query)
      authorization.codeChallenge = query["code_challenge"] ?? ""
      guard store.makeRoom(at: now) else { throw Refusal.overloaded }
    } catch {
      return redirect(authorization, refusal: error)
    }
    if options.autoConsent, let user = options.users.first {
      return allow(authorization, subject: user, at: now)
    }
    if query["prompt"] == "none" {
      return redirect(authorization, refusal: Refusal("login_required", "nobody is logged in here"))
    }
    let id = random.token(32)
    store.pending[id] = authorization
    return Page.login(
      action: options.issuer + "/authorize/login", hidden: [("authorization", id)],
      username: query["login_hint"] ?? "")
  }

  private func check(_ query: Parameters, _ client: DevClient) throws(Refusal) {
    guard let responseType = query["response_type"] else { throw Refusal("invalid_request", "no response_type") }
    guard responseType == "code" else {
      throw Refusal("unsupported_response_type", "only code is supported")
    }
    guard client.grantTypes.contains(.authorizationCode) else {
      throw Refusal("unauthorized_client", "this client may not use the authorization code grant")
    }
    guard let challenge = query["code_challenge"] else {
      throw Refusal("invalid_request", "code_challenge is required")
    }
    guard query["code_challenge_method"] == "S256" else {
      throw Refusal("invalid_request", "code_challenge_method must be S256")
    }
    guard challenge.utf8.count == 43, challenge.utf8.allSatisfy(\.isBase64URL) else {
      throw Refusal("invalid_request", "code_challenge is not a SHA-256 in base64url")
    }
  }

  /// POST from the login page.
  mutating func logIn(_ request: DevRequest, at now: Double) -> DevResponse {
    guard request.method == "POST" else { return .methodNotAllowed("POST") }
    guard let form = try? form(request), let id = form["authorization"], let authorization = store.pending[id],
      now < authorization.expiresAt
    else { return Page.problem(400, "This login is over. Start again from the program that sent you here.") }
    let username = form["username"] ?? ""
    guard isKnown(username, password: form["password"] ?? "") else {
      return Page.login(
        action: options.issuer + "/authorize/login", hidden: [("authorization", id)], username: username,
        problem: "Unknown user or wrong password.")
    }
    store.pending[id]?.subject = username
    return Page.consent(
      action: options.issuer + "/authorize/consent", hidden: [("authorization", id)],
      clientID: authorization.clientID, subject: username, scope: authorization.scope)
  }

  /// POST from the consent page.
  mutating func consent(_ request: DevRequest, at now: Double) -> DevResponse {
    guard request.method == "POST" else { return .methodNotAllowed("POST") }
    guard let form = try? form(request), let id = form["authorization"], let authorization = store.pending[id],
      now < authorization.expiresAt, let subject = authorization.subject
    else { return Page.problem(400, "This login is over. Start again from the program that sent you here.") }
    store.pending[id] = nil
    switch form["decision"] {
    case "allow": return allow(authorization, subject: subject, at: now)
    default: return redirect(authorization, refusal: Refusal("access_denied", "the user said no"))
    }
  }

  func isKnown(_ username: String, password: String) -> Bool {
    options.users.contains(username) && !password.isEmpty && password != "wrong"
  }

  private mutating func allow(_ authorization: AuthorizationRequest, subject: String, at now: Double) -> DevResponse {
    let code = random.token(43)
    store.codes[code] = AuthorizationCode(
      request: authorization, subject: subject, authenticatedAt: now - options.sessionAgeSeconds,
      expiresAt: now + options.codeLifeSeconds)
    return redirect(authorization, [("code", code)])
  }

  private func redirect(_ authorization: AuthorizationRequest, refusal: Refusal) -> DevResponse {
    redirect(authorization, [("error", refusal.error), ("error_description", refusal.description)])
  }

  private func redirect(_ authorization: AuthorizationRequest, _ parameters: [(String, String)]) -> DevResponse {
    var parameters = parameters
    if let state = authorization.state { parameters.append(("state", state)) }
    if options.sendsIssuer { parameters.append(("iss", options.issuer)) }
    let separator = authorization.redirectURI.contains("?") ? "&" : "?"
    return .redirect(to: authorization.redirectURI + separator + FormText.encode(parameters))
  }
}

extension UInt8 {
  /// One of the 64 characters of base64url.
  var isBase64URL: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
