/// Revocation (RFC 7009) and introspection (RFC 7662).
extension DevAuthorizationServer {
  /// A refresh token takes its whole family along, an access token only itself. Unknown tokens are a success (§2.2).
  mutating func revoke(_ request: DevRequest, at now: Double) throws(Refusal) -> DevResponse {
    let form = try form(request)
    let client = try client(of: request, form)
    guard let token = form["token"] else { throw Refusal("invalid_request", "no token") }
    let grant = store.refreshTokens[token]?.grant ?? store.accessTokens[token]?.grant
    if let grant, store.grants[grant]?.clientID != client.id {
      throw Refusal("invalid_grant", "the token is another client's")
    }
    if let refresh = store.refreshTokens[token] { store.revokeFamily(refresh.grant) }
    store.accessTokens[token]?.isRevoked = true
    return DevResponse(status: 200, headers: DevResponse.noStore)
  }

  /// For confidential clients only: a token must not be tried out by anybody (§2.1).
  mutating func introspect(_ request: DevRequest, at now: Double) throws(Refusal) -> DevResponse {
    let form = try form(request)
    let client = try client(of: request, form)
    guard client.secret != nil else {
      throw Refusal("invalid_client", "introspection needs a client with a secret", status: 401)
    }
    guard let token = form["token"] else { throw Refusal("invalid_request", "no token") }
    if let (access, grant) = store.access(token, at: now) {
      return describe(
        grant, scope: access.scope, expiresAt: access.expiresAt,
        [("token_type", .string("Bearer")), ("iat", .number(Int(access.issuedAt)))])
    }
    if let (refresh, grant) = store.refresh(token, at: now) {
      return describe(grant, scope: grant.scope, expiresAt: refresh.expiresAt, [])
    }
    return .json(.object([("active", .bool(false))]))
  }

  private func describe(
    _ grant: Grant, scope: [String], expiresAt: Double, _ more: [(String, JSONText)]
  ) -> DevResponse {
    var members: [(String, JSONText)] = [
      ("active", .bool(true)), ("scope", .string(scope.joined(separator: " "))),
      ("client_id", .string(grant.clientID)), ("username", .string(grant.subject)), ("sub", .string(grant.subject)),
      ("iss", .string(options.issuer)), ("exp", .number(Int(expiresAt))),
    ]
    if !grant.resource.isEmpty { members.append(("aud", .strings(grant.resource))) }
    return .json(.object(members + more))
  }
}
