import Sealing

/// Whose account an ID token says it is (OpenID Connect Core 1.0 §2), in words to be shown; nothing is decided by it.
///
/// It came from the token endpoint itself, so the server's certificate stands for the signature (§3.1.3.7, rule 6). A token
/// of another issuer or for another client says nothing.
package enum IDTokenName {
  /// What people know themselves by, best first. `sub` is mostly a number.
  private static let claims = ["preferred_username", "email", "name"]
  /// A longer claim is nobody's name.
  private static let claimLimitBytes = 1_024
  /// What fits on a line beside the words about it.
  private static let limitCharacters = 100

  /// Fit to be shown, and freed of the secrets of `request` and `grant`; nil where the token does not say.
  package static func of(
    _ grant: TokenResponse, to request: HTTPRequest, issuer: String, clientID: String
  ) -> String? {
    guard let token = grant.idToken, let text = token.text(limit: 64 << 10) else { return nil }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let payload = Base64URL.decode(String(parts[1])) else { return nil }
    let object = JSONObject(reading: Secret(payload))
    guard object.problem == nil, object.repeated(["iss", "aud"] + claims) == nil,
      object.text("iss", limit: claimLimitBytes) == issuer, isFor(clientID, object.value("aud"))
    else { return nil }
    let secrets = [
      RequestSecrets(of: request),
      RequestSecrets([grant.accessToken, token] + (grant.refreshToken.map { [$0] } ?? [])),
    ]
    return claims.lazy.compactMap { object.text($0, limit: claimLimitBytes) }
      .map { name in secrets.reduce(name) { $1.cut(from: $0) } }
      .map { Escaped.forTerminal($0, limit: limitCharacters) }.first { !["", "…"].contains($0) }
  }

  private static func isFor(_ clientID: String, _ audience: JSONValue?) -> Bool {
    switch audience {
    case .string(let one): one.text(limit: claimLimitBytes) == clientID
    case .array(let several):
      several.contains { if case .string(let one) = $0 { one.text(limit: claimLimitBytes) == clientID } else { false } }
    default: false
    }
  }
}
