/// An error answer of an authorization server (RFC 6749 §4.1.2.1, §5.2), safe to show: escaped, without a piece of a secret
/// of the request it answers, and without words that look like one. Only `code` belongs into a log.
package struct OAuthError: Sendable, Equatable, CustomStringConvertible {
  /// What an error code means for the account.
  package enum Meaning: Sendable, Equatable {
    /// The grant or refresh token is dead: a login is needed.
    case grantRefused
    /// The client's id or secret is not accepted; the grant may live.
    case clientRefused
    /// The server says itself that it will pass.
    case transient
    /// This request is refused, for its scope, resource, form or the user's will.
    case requestRefused
  }

  /// `error`: 1…128 printable ASCII characters without quote and backslash, as sent.
  package let code: String
  /// `error_description`, escaped and cut, or nil.
  package let explanation: String?
  /// `interval` beside `slow_down`, seconds (GitHub).
  package let intervalSeconds: Int?

  /// The server wants its nonce in the proof of possession (RFC 9449 §8).
  static let useNonce = "use_dpop_nonce"
  /// The server does not take the proof of possession (RFC 9449 §5).
  package static let invalidProof = "invalid_dpop_proof"

  /// Nil when `code` is not a usable error code. `secrets` are those of the request; a code that may hold one is not usable.
  package init?(
    code: String, explanation: String? = nil, intervalSeconds: Int? = nil,
    hiding secrets: RequestSecrets = RequestSecrets([])
  ) {
    guard (1...128).contains(code.utf8.count),
      code.utf8.allSatisfy({ (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") })
    else { return nil }
    // A code that is known is shown even where a secret is spelled alike.
    guard ErrorAdvice.codes[code] != nil || !secrets.mayBe(in: code) else { return nil }
    self.code = code
    // Cut before it is shortened: half a secret is one, too.
    self.explanation = explanation.flatMap { $0.isEmpty ? nil : Escaped.forTerminal(secrets.cut(from: $0), limit: 300) }
    self.intervalSeconds = intervalSeconds
  }

  package var meaning: Meaning {
    switch code {
    // The last four are GitHub's, Slack's, GitHub's and Glewlwyd's words for it.
    case "invalid_grant", "bad_refresh_token", "invalid_refresh_token", "bad_verification_code", "invalid_code":
      .grantRefused
    // Atlassian's, for a refresh token that has ended.
    case "unauthorized_client" where explanation == "refresh_token is invalid": .grantRefused
    // The last three are GitHub's and Slack's.
    case "invalid_client", "unauthorized_client", "incorrect_client_credentials", "bad_client_secret",
      "invalid_client_id":
      .clientRefused
    // Slack tells its own troubles with status 200 by the last four.
    case "temporarily_unavailable", "server_error", "slow_down", "authorization_pending", "internal_error",
      "fatal_error", "service_unavailable", "ratelimited":
      .transient
    default: .requestRefused
    }
  }

  /// What is known of it beyond what the server says.
  package var advice: ErrorAdvice? { ErrorAdvice(code: code, explanation: explanation) }

  /// `code (explanation): in plain words`
  package var told: String { advice.map { "\(self): \($0.sentence)" } ?? description }

  /// `code (explanation)`
  package var description: String { explanation.map { "\(code) (\($0))" } ?? code }
}

extension OAuthError {
  /// From the members of a JSON answer; nil without a string `error` of the right form.
  init?(_ object: JSONObject, hiding secrets: RequestSecrets) {
    guard let code = object.text("error", limit: 128) else { return nil }
    var interval: Int?
    if case .number(let text) = object.value("interval") { interval = Int(text) }
    self.init(
      code: code, explanation: object.text("error_description", limit: 4_096),
      intervalSeconds: interval.flatMap { (1...3_600).contains($0) ? $0 : nil }, hiding: secrets)
  }

  /// From form fields, of an answer or of an authorization response; nil without a single `error` of the right form.
  init?(_ fields: FormFields, hiding secrets: RequestSecrets) {
    guard let code = try? fields.only("error")?.text(limit: 128) else { return nil }
    self.init(
      code: code, explanation: (try? fields.only("error_description"))?.text(limit: 4_096),
      hiding: secrets)
  }
}
