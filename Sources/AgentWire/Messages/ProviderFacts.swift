/// What a preset knows of a provider beside the keys of an account's file: for who reads it. The agent decides nothing by
/// it; it reads each of these answers as they come, from every server.
package struct ProviderFacts: Codable, Sendable, Equatable {
  /// How the provider's mail servers take an access token (RFC 4422 §3.1); nil: no mail, or not known.
  package var sasl: [SASLMechanism]?
  /// How its token answer differs from RFC 6749 §5.
  package var tokenAnswer: [TokenAnswerForm]?
  package var refreshTokens: RefreshTokens?
  /// Days from the login on; nil: not known.
  package var refreshTokenDays: Int?
  /// Days that a refresh token lives without use; nil: not known.
  package var refreshTokenIdleDays: Int?

  package enum SASLMechanism: String, Codable, Sendable, CaseIterable {
    case xoauth2 = "XOAUTH2"
    /// RFC 7628.
    case oauthBearer = "OAUTHBEARER"
  }

  package enum TokenAnswerForm: String, Codable, Sendable, CaseIterable {
    /// A form where JSON is not asked for; the agent asks for JSON.
    case form
    /// The token in an object of its own.
    case nested
    /// An error with status 200.
    case errorWith200 = "error_with_200"
    /// No life of the access token.
    case noExpiresIn = "no_expires_in"
  }

  package enum RefreshTokens: String, Codable, Sendable, CaseIterable {
    /// There are none.
    case absent = "none"
    /// A refresh brings no other one.
    case kept
    /// A refresh brings another one, and the one before it ends.
    case rotated
    /// A refresh brings another one, and the one before it lives on.
    case added
    /// As the server or the client is configured.
    case configured
  }

  package init(
    sasl: [SASLMechanism]? = nil, tokenAnswer: [TokenAnswerForm]? = nil, refreshTokens: RefreshTokens? = nil,
    refreshTokenDays: Int? = nil, refreshTokenIdleDays: Int? = nil
  ) {
    self.sasl = sasl
    self.tokenAnswer = tokenAnswer
    self.refreshTokens = refreshTokens
    self.refreshTokenDays = refreshTokenDays
    self.refreshTokenIdleDays = refreshTokenIdleDays
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case sasl
    case tokenAnswer = "token_answer"
    case refreshTokens = "refresh_tokens"
    case refreshTokenDays = "refresh_token_days"
    case refreshTokenIdleDays = "refresh_token_idle_days"
  }
}
