import Sealing

/// ID tokens (OpenID Connect Core 1.0 §2) for grants with `openid`.
///
/// Their HS256 signature has a key that nobody else has: clients take them straight from the token endpoint, where the
/// connection stands for it (§3.1.3.7, rule 6).
extension DevAuthorizationServer {
  /// Nil where the grant has no `openid`, or the server leaves it out of refreshes.
  mutating func idToken(
    _ grant: Grant, scope: [String], beside accessToken: String, isRefresh: Bool, at now: Double
  ) -> String? {
    guard scope.contains("openid"), !isRefresh || options.refreshGivesIDToken else { return nil }
    let now = Int(now + options.clockSkewSeconds)
    let hash = Base64URL.encode(Digest.sha256(Array(accessToken.utf8)).prefix(16))
    var claims: [(String, JSONText)] = [
      ("iss", .string(options.issuer)), ("sub", .string(grant.subject)), ("aud", .string(grant.clientID)),
      ("exp", .number(now + Int(options.idTokenLifeSeconds))), ("iat", .number(now)),
      ("auth_time", .number(Int(grant.authenticatedAt + options.clockSkewSeconds))), ("at_hash", .string(hash)),
    ]
    if let nonce = grant.nonce, !isRefresh { claims.append(("nonce", .string(nonce))) }
    if scope.contains("profile") { claims.append(("preferred_username", .string(grant.subject))) }
    if scope.contains("email") {
      claims += [("email", .string("\(grant.subject)@dev.example")), ("email_verified", .bool(true))]
    }
    for (name, value) in options.idTokenClaims.sorted(by: { $0.key < $1.key }) {
      claims.removeAll { $0.0 == name }
      if let value { claims.append((name, .string(value))) }
    }
    let signed = [JSONText.object([("alg", .string("HS256")), ("typ", .string("JWT"))]), .object(claims)]
      .map { Base64URL.encode(Array($0.text.utf8)) }.joined(separator: ".")
    let signature = HMAC.sha256(Array(signed.utf8), key: Secret(random.token(32)))
    return signed + "." + Base64URL.encode(signature)
  }
}
