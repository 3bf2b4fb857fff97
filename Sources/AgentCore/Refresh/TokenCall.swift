package import OAuthProtocol
package import Sealing

/// One request to a token endpoint, as the state machine wants it sent.
package struct TokenCall: Sendable {
  package var grant: TokenRequestGrant
  package var key: TokenKey
  /// The scope to send, as the account and the key decide; empty: the parameter is left out.
  package var scope: [String]
  package var scopeSeparator = ScopeSeparator.blank
  package var resource: [String]
  package var audience: [String]
  package var binding: DefinitionBinding
  /// It logs in again with what is kept, because the refresh token is dead.
  package var isLogin: Bool
  /// When the login that it is made for was made.
  package var loggedIn: Moment
  /// That login's ``GrantRecord/order``.
  package var order: UInt64?
  package var clientSecret: Secret?
  /// The key that its tokens are bound to, as it is sealed; nil: to none.
  package var proofKey: Secret?
  /// Counts every call of this account in this agent's life.
  package var number: UInt64
  /// The moment before the request is sent: lives count from here.
  package var started: Moment
  /// The machine has stood still since its answer was made.
  package var isOfBeforePause = false
  /// Seconds in which its connection has to be there, since what is sent later is sent after the server's reuse window;
  /// nil: as long as any.
  package var leavesWithinSeconds: Double?
  /// It is the second of its kind in a row: the first lacked the server's nonce.
  package var isProvenAnew = false
  /// Whose tokens it was made whole with.
  package var lent: [LentFingerprint] = []

  /// Whether sending it uses something up that a lost answer would lose.
  package var rotates: Bool { grant.refreshToken != nil }

  /// Whether tokens of other accounts are what it is made of.
  package var isLent: Bool { grant.missing == .lentTokens }
}

/// How a ``TokenCall`` ended: whether it left this machine, and with which answer. A rotated refresh token hangs on it.
package enum TokenCallEnd: Sendable {
  /// Nothing was sent, and that says nothing about the server.
  case notTried(String)
  /// As `notTried`, and it stays so until somebody mends the installation.
  case notInstalled(String)
  /// As `notTried`, and it stays so until somebody mends the account's `ca_file`.
  case noAuthority(String)
  /// As `notTried`, and it stays so until the client shows another certificate, or the server takes this one.
  case noCertificate(String)
  /// Provably nothing was sent: the server could not be reached.
  case notSent(String)
  /// Sent, and no whole answer came: a refresh token may or may not be used up.
  case sentNoAnswer(String)
  /// Refused for want of the server's nonce in the proof (RFC 9449 §8): nothing of it was used up. `hasNewNonce`: the nonce
  /// is known now, and was not in it.
  case unproven(TokenJudgement, hasNewNonce: Bool)
  case answered(TokenJudgement)
}

extension TokenJudgement {
  /// Seconds, if the server told them; an answer without a token tells none.
  var refreshTokenLifeSeconds: Double? {
    if case .granted(let granted) = verdict { granted.refreshTokenLifetimeSeconds.map(Double.init) } else { nil }
  }
}
