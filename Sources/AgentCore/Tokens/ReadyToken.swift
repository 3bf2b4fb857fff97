package import AgentWire
package import Sealing

/// A ``TokenRecord`` that callers may have at once, with its answer printed. A class: to lend it out counts one reference,
/// not those of all its parts.
package final class ReadyToken: Sendable {
  package let accessToken: Secret
  /// Its answers without the token itself.
  package let frame: TokenAnswerFrame
  /// Boot time at which its life ends; nil: not known.
  package let endBootSeconds: Double?
  /// Seconds it must still be valid when a request names none.
  package let defaultMinimumValidity: Double

  package init(accessToken: Secret, frame: TokenAnswerFrame, endBootSeconds: Double?, defaultMinimumValidity: Double) {
    self.accessToken = accessToken
    self.frame = frame
    self.endBootSeconds = endBootSeconds
    self.defaultMinimumValidity = defaultMinimumValidity
  }

  /// Nil: the line of this token has another spelling, and the coders write it.
  convenience init?(
    _ token: TokenRecord, account: String, accountID: String, binding: DefinitionBinding?, gitUsername: String?,
    at now: Moment
  ) {
    guard token.accessToken.secret.withBytes(TokenAnswerFrame.canCarry) else { return nil }
    self.init(
      accessToken: token.accessToken.secret,
      frame: TokenAnswerFrame(
        tokenType: token.tokenType, scope: token.scope, account: account, accountID: accountID,
        authorityDigest: binding?.certificateAuthorityDigest,
        authorityHost: binding?.authorityHost, fingerprint: token.fingerprint.description, gitUsername: gitUsername),
      endBootSeconds: token.endBootSeconds(at: now),
      defaultMinimumValidity: RefreshPlan.defaultMinimumValidity(lifeSeconds: token.lifeSeconds))
  }

  /// Whether it is valid for `seconds` more, or for its default.
  package func suffices(_ seconds: Int?, at bootSeconds: Double) -> Bool {
    guard let endBootSeconds else { return true }
    let remaining = endBootSeconds - bootSeconds
    return remaining > 0 && remaining >= (seconds.map(Double.init) ?? defaultMinimumValidity)
  }
}

/// A token for one request, whose line is written where and when it is sent.
package struct ReadyAnswer: Sendable {
  package let token: ReadyToken
  /// The origin of the request's URL; nil: it named none.
  package let matchedHost: String?

  package init(token: ReadyToken, matchedHost: String? = nil) {
    self.token = token
    self.matchedHost = matchedHost
  }

  /// Bytes that `write` wants.
  package var capacity: Int { token.frame.capacity(tokenCount: token.accessToken.count, matchedHost) }

  /// Writes the line that answers the request `id` at `now`, and returns its length.
  package func write(_ id: Int64, at now: Moment, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let remaining = token.endBootSeconds.map { $0 - now.bootSeconds }
    return token.frame.write(
      id, expiresAt: remaining.map { Int(now.wallSeconds + $0) }, expiresInSeconds: remaining.map { max(0, Int($0)) },
      matchedHost, tokenCount: token.accessToken.count, into: buffer
    ) { token.accessToken.write(to: $0) }
  }
}
