package import OAuthProtocol
package import Sealing

/// One request to a token endpoint, as the state machine wants it sent.
package struct TokenCall: Sendable {
  package var grant: TokenRequestGrant
  package var key: TokenKey
  /// To be sent, as decided by the account and the key; empty: left out.
  package var scope: [String]
  package var resource: [String]
  package var audience: [String]
  package var binding: DefinitionBinding
  /// It logs in anew, with what is kept, where a refresh token would have done.
  package var isLogin: Bool
  /// When the login that it is made for was made.
  package var loggedIn: Moment
  package var clientSecret: Secret?
  /// Counts every call of this account in this agent's life.
  package var number: UInt64
  /// From before the request is sent: lives count from here.
  package var started: Moment

  /// Whether sending it uses something up that a lost answer would lose.
  package var rotates: Bool { grant.refreshToken != nil }
}

/// What a token endpoint's answer comes to, with the refresh token kept apart: it is saved whatever else is wrong.
package struct JudgedAnswer: Sendable {
  package enum Verdict: Sendable {
    case granted(accessToken: Secret, tokenType: String, lifeSeconds: Double?, scope: [String]?)
    /// `invalid_grant`: only a login helps.
    case grantRefused(error: String, description: String?)
    /// `invalid_client`, `unauthorized_client`: the definition or the client secret is wrong, the grant may live.
    case clientRefused(error: String, description: String?)
    /// Another `error`.
    case refused(error: String, description: String?)
    /// A 4xx that says nothing usable: three of them over ten minutes count as a refusal, unconfirmed.
    case refusedWithoutReason(String)
    /// Decides nothing: 5xx, 429, HTML, redirects, a token that cannot be used.
    case undecided(reason: String, retryAfterSeconds: Double?)
  }

  package var verdict: Verdict
  package var refreshToken: Secret?
  package var refreshTokenLifeSeconds: Double?
  /// The server's clock, Unix seconds, if the answer had a date.
  package var dateSeconds: Int64?
  /// What a log may keep of it: the server's error code, none of its other words.
  package var logLine: String?

  package init(_ verdict: Verdict, refreshToken: Secret? = nil, refreshTokenLifeSeconds: Double? = nil) {
    self.verdict = verdict
    self.refreshToken = refreshToken
    self.refreshTokenLifeSeconds = refreshTokenLifeSeconds
  }
}

/// How a ``TokenCall`` ended.
package enum TokenCallEnd: Sendable {
  /// Nothing was sent, and that says nothing about the server.
  case notTried(String)
  /// As `notTried`, and it stays so until somebody mends the installation.
  case notInstalled(String)
  /// Provably nothing was sent: the server could not be reached.
  case notSent(String)
  /// Sent, and no whole answer came: a refresh token may or may not be used up.
  case sentNoAnswer(String)
  case answered(JudgedAnswer)
}
