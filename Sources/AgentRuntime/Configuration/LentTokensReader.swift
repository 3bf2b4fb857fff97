import AgentCore
import OAuthProtocol
import OAuthTerms

/// Reads the keys that name the accounts whose tokens a grant is made of (RFC 8693 §2.1).
enum LentTokensReader {
  /// Nil for a grant that needs none, and where something is wrong, which is noted.
  static func read(_ keys: inout KeyReader, account: String, grant: GrantKind) -> LentTokens? {
    let subject = token("subject", &keys, account, usual: grant == .identityAssertion ? .idToken : .accessToken)
    let actor = token("actor", &keys, account, usual: .accessToken)
    let requested = requestedType(&keys)
    guard grant.terms.need == .otherLogin else {
      refuse(["subject_account", "actor_account", "requested_token_type"], &keys)
      return nil
    }
    if grant == .identityAssertion { refuse(["actor_account", "requested_token_type"], &keys) }
    if !keys.has("subject_account") {
      keys.refuse(
        "subject_account", "it is missing; the \(grant.rawValue) grant needs the account that lends its token")
    }
    return subject.map { LentTokens(subject: $0, actor: actor, requestedType: requested) }
  }

  private static func refuse(_ others: [String], _ keys: inout KeyReader) {
    for key in others where keys.has(key) {
      keys.refuse(key, "it belongs to grant = \"\(GrantKind.tokenExchange.rawValue)\"")
    }
  }

  private static func token(
    _ role: String, _ keys: inout KeyReader, _ account: String, usual: TokenKind
  ) -> LentToken? {
    let key = "\(role)_account"
    let kind = keys.choice("\(role)_token_type", TokenKind.self)
    guard let lender = keys.string(key, limitBytes: 256) else {
      if kind != nil, !keys.has(key) { keys.refuse("\(role)_token_type", "it needs \(key) beside it") }
      return nil
    }
    guard AccountFileName.isAccountName(lender) else {
      keys.refuse(key, "it is no account name")
      return nil
    }
    guard lender != account else {
      keys.refuse(key, "it is this account itself; name the one that lends its token")
      return nil
    }
    return LentToken(account: lender, kind: kind ?? usual)
  }

  /// One of the words for known kinds, or the whole URI.
  private static func requestedType(_ keys: inout KeyReader) -> String? {
    let key = "requested_token_type"
    guard let text = keys.string(key, limitBytes: 2_048) else { return nil }
    let uri = TokenKind(rawValue: text)?.uri ?? text
    if uri == TokenKind.refreshTokenURI || text == "refresh_token" {
      keys.refuse(key, "a refresh token is nothing that tools could use")
      return nil
    }
    guard let reason = ValueRules.resource(uri) else { return uri }
    let words = TokenKind.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
    keys.refuse(key, "it is \(words), or a URI: \(reason)")
    return nil
  }
}
