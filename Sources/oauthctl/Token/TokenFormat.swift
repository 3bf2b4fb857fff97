import AgentWire
import HelperFormats

/// How `get-token` prints a token.
enum TokenFormat: String, CaseIterable, Sendable {
  /// The token alone.
  case token
  /// Everything the agent answered, one line.
  case json
  /// `Authorization: Bearer TOKEN`, for `curl -H @<(…)` and others.
  case header
  /// `{"Authorization":"Bearer TOKEN"}`, one line, for programs that have a command print their headers.
  case headers

  func text(_ answer: TokenAnswer) throws(CommandError) -> String {
    switch self {
    case .token: return try AccessToken.checked(answer.accessToken)
    case .json: return JSONText.line(answer)
    case .header: return try AccessToken.header(answer, AuthorizationHeader.field)
    case .headers: return try AccessToken.header(answer, AuthorizationHeader.jsonObject)
    }
  }

  /// Of a token that is worth nothing without the proof beside it; nil: this form has no place for one.
  func text(_ answer: DPoPProofAnswer) throws(CommandError) -> String? {
    switch self {
    case .token: return nil
    case .json: return JSONText.line(answer)
    case .header:
      return try AccessToken.header(answer.tokenType, answer.accessToken) { (type, token) throws(HelperFormatError) in
        try AuthorizationHeader.fields(tokenType: type, token: token, proof: answer.proof)
      }
    case .headers:
      return try AccessToken.header(answer.tokenType, answer.accessToken) { (type, token) throws(HelperFormatError) in
        try AuthorizationHeader.jsonObject(tokenType: type, token: token, proof: answer.proof)
      }
    }
  }
}

/// The last check before a token leaves: nothing in it may end a line or a quoted string (RFC 6749 appendix A.12).
enum AccessToken {
  private static func check(_ token: some Collection<UInt8>) throws(CommandError) {
    guard AuthorizationHeader.canCarry(token) else {
      throw .local("the token holds characters that no header may carry", next: .run("oauthctl status"), status: 9)
    }
  }

  static func checked(_ token: String) throws(CommandError) -> String {
    try check(token.utf8)
    return token
  }

  /// The token and a line feed.
  static func line(_ token: ArraySlice<UInt8>) throws(CommandError) -> [UInt8] {
    try check(token)
    return [UInt8](unsafeUninitializedCapacity: token.count + 1) { line, count in
      _ = line.initialize(from: token)
      line[token.count] = UInt8(ascii: "\n")
      count = token.count + 1
    }
  }

  /// The header in a form of one's choice, the type as the agent says it is to be written.
  static func header(
    _ answer: TokenAnswer, _ form: (String, String) throws(HelperFormatError) -> String
  ) throws(CommandError) -> String {
    try header(answer.tokenType, answer.accessToken, form)
  }

  static func header(
    _ tokenType: String, _ token: String, _ form: (String, String) throws(HelperFormatError) -> String
  ) throws(CommandError) -> String {
    do {
      return try form(tokenType, token)
    } catch {
      throw .local(error.message, next: .run("oauthctl status"), status: 9)
    }
  }
}
