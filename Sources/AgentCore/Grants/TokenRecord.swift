import AgentWire
package import Sealing

/// One access token as it is sealed, with the moment from which its life counts.
package struct TokenRecord: Sendable, Equatable, Codable {
  package var key: TokenKey
  package var accessToken: StoredSecret
  package var tokenType: String
  package var scope: [String]
  /// From before its request was sent.
  package var received: Moment
  /// Seconds, as the server said; nil: it did not.
  package var lifeSeconds: Double?
  /// True: an API has rejected it, and no successor comes, since a login is needed.
  package var isRejected: Bool?

  package init(
    key: TokenKey, accessToken: Secret, tokenType: String, scope: [String], received: Moment, lifeSeconds: Double?
  ) {
    self.key = key
    self.accessToken = StoredSecret(accessToken)
    self.tokenType = tokenType
    self.scope = scope
    self.received = received
    self.lifeSeconds = lifeSeconds
  }

  /// Bytes that the access tokens of an account take together, at most, but for the newest: four of the longest.
  package static let limitBytes = 128 << 10

  /// Of what a server or a caller has chosen in it.
  var byteCount: Int {
    accessToken.secret.count + (scope + key.scope + key.resource + key.audience).reduce(0) { $0 + $1.utf8.count }
  }

  package var fingerprint: Fingerprint { Fingerprint(of: accessToken.secret) }

  /// Boot time, in the boot of `now`, at which its life ends; nil where the life is not known.
  package func endBootSeconds(at now: Moment) -> Double? {
    guard let lifeSeconds else { return nil }
    // From the future, by whatever clock: one was wrong, and nobody can know how old it is.
    guard now.longestElapsed(since: received).isFinite else { return now.bootSeconds }
    return now.bootSeconds + lifeSeconds - now.elapsed(since: received)
  }

  /// Seconds left; nil where the life is not known.
  package func remaining(at now: Moment) -> Double? { endBootSeconds(at: now).map { $0 - now.bootSeconds } }

  private enum CodingKeys: String, CodingKey {
    case key, scope, received
    case accessToken = "access_token"
    case tokenType = "token_type"
    case lifeSeconds = "life_s"
    case isRejected = "rejected"
  }
}
