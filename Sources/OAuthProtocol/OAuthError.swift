import Sealing

/// An error answer of an authorization server (RFC 6749 §4.1.2.1, §5.2), safe to show.
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
  /// `error_uri` when it is a URL one may open.
  package let uri: String?
  /// `interval` beside `slow_down`, seconds (GitHub).
  package let intervalSeconds: Int?

  /// Nil when `code` is not a usable error code.
  package init?(code: String, explanation: String? = nil, uri: String? = nil, intervalSeconds: Int? = nil) {
    guard (1...128).contains(code.utf8.count),
      code.utf8.allSatisfy({ (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") })
    else { return nil }
    self.code = code
    self.explanation = explanation.flatMap { $0.isEmpty ? nil : Escaped.forTerminal($0, limit: 300) }
    self.uri = uri.flatMap { try? WebURL($0).text }
    self.intervalSeconds = intervalSeconds
  }

  package var meaning: Meaning {
    switch code {
    // The last four are GitHub's, Slack's, GitHub's and Glewlwyd's words for it.
    case "invalid_grant", "bad_refresh_token", "invalid_refresh_token", "bad_verification_code", "invalid_code":
      .grantRefused
    case "invalid_client", "unauthorized_client", "incorrect_client_credentials": .clientRefused
    case "temporarily_unavailable", "server_error", "slow_down", "authorization_pending": .transient
    default: .requestRefused
    }
  }

  /// `code (explanation)`
  package var description: String { explanation.map { "\(code) (\($0))" } ?? code }
}

extension OAuthError {
  /// From the members of a JSON answer; nil without a string `error` of the right form.
  init?(_ object: JSONObject) {
    guard let code = object.text("error", limit: 128) else { return nil }
    var interval: Int?
    if case .number(let text) = object.value("interval") { interval = Int(text) }
    self.init(
      code: code, explanation: object.text("error_description", limit: 4_096),
      uri: object.text("error_uri", limit: 2_048),
      intervalSeconds: interval.flatMap { (1...3_600).contains($0) ? $0 : nil })
  }

  /// From form fields, of an answer or of an authorization response; nil without a single `error` of the right form.
  init?(_ fields: FormFields) {
    guard let code = try? fields.only("error")?.text(limit: 128) else { return nil }
    self.init(
      code: code, explanation: (try? fields.only("error_description"))?.text(limit: 4_096),
      uri: (try? fields.only("error_uri"))?.text(limit: 2_048))
  }
}
