package import Sealing

/// A successful token response (RFC 6749 §5.1), as the server sent it.
package struct TokenResponse: Sendable {
  /// Longest access or refresh token: 32 KiB, several times the longest JWTs with groups in them.
  package static let tokenLimitBytes = 32 << 10

  /// 1…32768 bytes of %x21-7E.
  package let accessToken: Secret
  /// What was asked for: a token of another type is none.
  package let tokenType: TokenType
  package let lifetime: TokenLifetime
  /// Nil: as asked for. At most 256.
  package let scope: [String]?
  /// Nil: the old one stays.
  package let refreshToken: Secret?
  /// Life of the refresh token, seconds, where the server tells it (`refresh_token_expires_in`, `refresh_expires_in`).
  package let refreshTokenLifetimeSeconds: Int?
  /// OpenID Connect; printable ASCII up to 64 KiB, not validated.
  package let idToken: Secret?
  /// What a server may repeat in a claim: the tokens, and what the request held.
  package var secrets = RequestSecrets([])
}

extension TokenResponse {
  /// Judges the members of an answer with status 200 or 201 and no `error`.
  init(
    _ object: JSONObject, as wanted: TokenType, refreshToken: Secret?, hiding secrets: RequestSecrets,
    _ exchange: IssuedTokenType? = nil
  ) throws(TokenAnswerProblem) {
    if let problem = object.problem { throw .malformed(problem.rawValue) }
    let names = [
      "access_token", "token_type", "expires_in", "refresh_token", "scope", "id_token", "error",
    ]
    if let name = object.repeated(names) { throw .duplicateMember(name) }
    let isOther = try exchange?.isOther(object, hiding: secrets) ?? false
    switch object.value("token_type") {
    // Some servers name none, and mean Bearer.
    case nil where wanted == .bearer: break
    case nil: throw .notBound(shown: "missing")
    case .string(let type):
      let text = type.text(limit: 64) ?? ""
      let isWanted =
        text.lowercased() == wanted.rawValue.lowercased() || wanted == .bearer && object.isSlackToken(ofType: text)
      guard isWanted || isOther && text.lowercased() == "n_a" else {
        let shown = Escaped.forTerminal(secrets.cut(from: text), limit: 40)
        throw wanted == .bearer ? .tokenType(shown: shown) : .notBound(shown: "\"\(shown)\"")
      }
    default: throw .tokenType(shown: "not a text")
    }
    tokenType = wanted
    guard let value = object.value("access_token") else { throw .accessTokenMissing }
    guard case .string(let token) = value, (1...Self.tokenLimitBytes).contains(token.count),
      token.consists(of: 0x21...0x7E)
    else { throw .accessTokenMalformed }
    lifetime = TokenLifetime(object.value("expires_in"))
    accessToken = token
    self.refreshToken = refreshToken
    refreshTokenLifetimeSeconds =
      TokenLifetime(object.value("refresh_token_expires_in")).knownSeconds
      ?? TokenLifetime(object.value("refresh_expires_in")).knownSeconds
    if case .string(let token) = object.value("id_token"), (1...(64 << 10)).contains(token.count),
      token.consists(of: 0x21...0x7E)
    {
      idToken = token
    } else {
      idToken = nil
    }
    let named = Self.scope(object.value("scope")) ?? Self.scope(object.value("scopes"))
    let all = secrets.adding([accessToken, idToken, refreshToken].compactMap(\.self))
    self.secrets = all
    scope = named.map { all.without($0) }
  }

  /// A text, or an array of texts (Twitch); nil when it is neither or holds no scope token.
  private static func scope(_ value: JSONValue?) -> [String]? {
    let tokens: [String]
    switch value {
    case .string(let text): tokens = ScopeList.parse(text.text(limit: 64 << 10) ?? "")
    case .array(let values):
      tokens = ScopeList.kept(
        values.compactMap { value in
          if case .string(let text) = value { text.text(limit: 1_024) } else { nil }
        })
    default: return nil
    }
    return tokens.isEmpty ? nil : tokens
  }
}
