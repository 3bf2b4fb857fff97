import Sealing

/// The token endpoint (RFC 6749 §3.2).
extension DevAuthorizationServer {
  mutating func token(_ request: DevRequest, at now: Double) throws(Refusal) -> DevResponse {
    let form = try form(request)
    let client = try client(of: request, form)
    guard let name = form["grant_type"] else { throw Refusal("invalid_request", "no grant_type") }
    guard let grantType = DevGrantType(rawValue: name) else {
      throw Refusal("unsupported_grant_type", "unknown grant_type")
    }
    guard client.grantTypes.contains(grantType) else {
      throw Refusal("unauthorized_client", "this client may not use \(grantType.rawValue)")
    }
    guard store.makeRoom(at: now) else { throw Refusal.overloaded }
    switch grantType {
    case .authorizationCode: return try exchangeCode(form, client, at: now)
    case .refreshToken: return try refresh(form, client, at: now)
    case .clientCredentials:
      let grant = Grant(
        clientID: client.id, subject: client.id, scope: try scope(form), resource: try resource(form))
      return issue(store.addGrant(grant), scope: grant.scope, givesRefreshToken: false, at: now)
    case .password:
      guard let username = form["username"], let password = form["password"] else {
        throw Refusal("invalid_request", "username and password are required")
      }
      let grant = Grant(
        clientID: client.id, subject: username, scope: try scope(form), resource: try resource(form),
        authenticatedAt: now)
      guard isKnown(username, password: password) else {
        throw Refusal("invalid_grant", "the user or the password is not known")
      }
      return issue(store.addGrant(grant), for: client, at: now)
    case .deviceCode: return try pollDevice(form, client, at: now)
    case .tokenExchange: return try exchangeToken(form, client, at: now)
    }
  }

  private mutating func exchangeCode(
    _ form: Parameters, _ client: DevClient, at now: Double
  ) throws(Refusal) -> DevResponse {
    guard let text = form["code"] else { throw Refusal("invalid_request", "no code") }
    guard let code = store.codes[text] else { throw Refusal("invalid_grant", "unknown code") }
    guard code.request.clientID == client.id else { throw Refusal("invalid_grant", "the code is another client's") }
    if let grant = code.grant {
      // RFC 6749 §4.1.2: a code used twice may have been stolen.
      store.revokeFamily(grant)
      throw Refusal("invalid_grant", "the code was used before; its tokens are revoked")
    }
    guard now < code.expiresAt else { throw Refusal("invalid_grant", "the code has expired") }
    if code.request.namedRedirectURI || form["redirect_uri"] != nil {
      guard form["redirect_uri"] == code.request.redirectURI else {
        throw Refusal("invalid_grant", "redirect_uri is not the one of the authorization request")
      }
    }
    guard let verifier = form["code_verifier"] else { throw Refusal("invalid_request", "no code_verifier") }
    guard (43...128).contains(verifier.utf8.count),
      verifier.utf8.allSatisfy({ $0.isBase64URL || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "~") }),
      Base64URL.encode(Digest.sha256(Array(verifier.utf8))) == code.request.codeChallenge
    else {
      store.codes[text] = nil
      throw Refusal("invalid_grant", "code_verifier does not fit the code_challenge")
    }
    let grant = store.addGrant(
      Grant(
        clientID: client.id, subject: code.subject, scope: code.request.scope, resource: code.request.resource,
        nonce: code.request.nonce, authenticatedAt: code.authenticatedAt))
    store.codes[text]?.grant = grant
    return issue(grant, for: client, at: now)
  }

  private mutating func refresh(
    _ form: Parameters, _ client: DevClient, at now: Double
  ) throws(Refusal) -> DevResponse {
    guard let text = form["refresh_token"] else { throw Refusal("invalid_request", "no refresh_token") }
    guard let token = store.refreshTokens[text], let grant = store.grants[token.grant], grant.clientID == client.id
    else { throw Refusal("invalid_grant", "unknown refresh token") }
    guard !grant.isRevoked else { throw Refusal("invalid_grant", "the login was revoked") }
    guard now < token.expiresAt else { throw Refusal("invalid_grant", "the refresh token has expired") }
    if let usedAt = token.usedAt {
      guard case .grace(let seconds) = options.rotation, now <= usedAt + seconds else {
        store.revokeFamily(token.grant)
        throw Refusal("invalid_grant", "the refresh token was used before; the whole login is revoked")
      }
    }
    var narrowed = grant.scope
    if form["scope"] != nil {
      narrowed = try scope(form)
      guard narrowed.allSatisfy(grant.scope.contains) else {
        throw Refusal("invalid_scope", "a refresh cannot widen the scope")
      }
    }
    guard try resource(form).allSatisfy({ grant.resource.isEmpty || grant.resource.contains($0) }) else {
      throw Refusal("invalid_target", "a refresh cannot widen the resources")
    }
    if options.refreshRevokesAccessTokens { store.revokeAccessTokens(of: token.grant) }
    guard options.rotation != .none else {
      return issue(token.grant, scope: narrowed, givesRefreshToken: false, isRefresh: true, at: now)
    }
    if token.usedAt == nil { store.refreshTokens[text]?.usedAt = now }
    return issue(token.grant, scope: narrowed, givesRefreshToken: true, isRefresh: true, at: now)
  }

  /// Tokens of the grant's whole scope, with a refresh token where the client may use one.
  mutating func issue(_ grant: Int, for client: DevClient, at now: Double) -> DevResponse {
    issue(
      grant, scope: store.grants[grant]?.scope ?? [], givesRefreshToken: client.grantTypes.contains(.refreshToken),
      at: now)
  }

  mutating func issue(
    _ grant: Int, scope: [String], givesRefreshToken: Bool, isRefresh: Bool = false,
    _ more: [(String, JSONText)] = [], at now: Double
  ) -> DevResponse {
    let life = options.accessTokenLifeSeconds
    let access = options.tokenPrefix + random.token(min(max(options.tokenLength, 8), 65_536))
    store.accessTokens[access] = AccessToken(grant: grant, scope: scope, issuedAt: now, expiresAt: now + life)
    var members: [(String, JSONText)] = [("access_token", .string(access)), ("token_type", .string("Bearer"))]
    if !options.omitExpiresIn { members.append(("expires_in", .number(Int(life)))) }
    if givesRefreshToken {
      let refresh = random.token(43)
      store.refreshTokens[refresh] = RefreshToken(grant: grant, expiresAt: now + options.refreshTokenLifeSeconds)
      members.append(("refresh_token", .string(refresh)))
    }
    if let grant = store.grants[grant],
      let token = idToken(grant, scope: scope, beside: access, isRefresh: isRefresh, at: now)
    {
      members.append(("id_token", .string(token)))
    }
    members.append(("scope", .string(scope.joined(separator: " "))))
    return .json(.object(members + more))
  }
}
