import AgentWire
import Sealing

/// How a revocation request ended (RFC 7009 §2.2).
package enum RevocationEnd: Sendable {
  case revoked
  case refused(String)
  /// The client was not accepted: kept, since another client secret may be.
  case clientRefused(String)
  case later(String, retryAfterSeconds: Double?)

  /// Whether nothing more is sent for it.
  var isFinal: Bool {
    switch self {
    case .revoked, .refused: true
    case .clientRefused, .later: false
    }
  }
}

extension AccountStateMachine {
  /// What its server is to be told when `grant` is forgotten.
  static func revocations(
    of grant: GrantRecord, _ record: AccountRecord, at now: Moment, order: ChangeID
  ) -> [RevocationRecord] {
    guard grant.binding.revocationEndpoint != nil else { return [] }
    func revocation(_ token: StoredSecret, _ hint: String) -> RevocationRecord {
      var revocation = RevocationRecord(token: token, hint: hint, binding: grant.binding, since: now)
      if grant.binding.sendsClientSecret { revocation.clientSecret = record.clientSecret(for: revocation) }
      revocation.user = grant.identity?.presentUser
      revocation.order = order
      return revocation
    }
    // A server that revokes the refresh token may revoke its access tokens, or not (RFC 7009 §2.1): each that lives is
    // told, after it. Without a refresh token all are: this clock may be wrong about what has ended.
    let refreshTokens = [grant.refreshToken, grant.otherRefreshToken].compactMap(\.self).map {
      revocation($0, "refresh_token")
    }
    return refreshTokens
      + record.tokens.compactMap { token in
        let left = token.remaining(at: now)
        let lives = (left ?? 1) > 0
        guard lives || refreshTokens.isEmpty else { return nil }
        var record = revocation(token.accessToken, "access_token")
        if lives { record.lifeSeconds = left }
        return record
      }
  }

  /// What is told next, of each client at each server.
  private func nextRevocations(at now: Moment) -> [RevocationRecord] {
    guard var record else { return [] }
    // What an older vault has still to tell may end a login that the newer one has.
    if let rollback { record.revocations.removeAll { $0.afterRollback != rollback } }
    return record.nextRevocations(beside: otherLogins, at: now)
  }

  /// Boot time of the next revocation; nil: none is due, or it waits for the end of another account's request.
  func nextRevocationTime(at now: Moment) -> Double? {
    isClosed ? nil : revocationQueue.time(of: nextRevocations(at: now), at: now)
  }

  /// The next revocation that is due.
  mutating func nextRevocation(at now: Moment) -> Action? {
    guard !isClosed, let next = revocationQueue.begin(nextRevocations(at: now), at: now) else { return nil }
    revokingSecret = record?.clientSecret(for: next)
    return .revoke(next, clientSecret: revokingSecret?.secret)
  }

  mutating func revocationEnded(
    _ revocation: RevocationRecord, _ end: RevocationEnd, id: ChangeID, at now: Moment, random: Double
  ) -> [Action] {
    var isOver =
      now.seconds(since: revocation.since) >= min(revocation.lifeSeconds ?? .infinity, RevocationRecord.lifeSeconds)
    switch end {
    case .revoked, .refused: isOver = true
    // Another secret came meanwhile.
    case .clientRefused where record?.clientSecret(for: revocation) != revokingSecret: revocationQueue.end()
    case .clientRefused(let reason):
      revocationQueue.end { $0.fail(reason, at: now.bootSeconds, spread: random, least: Self.probeSeconds) }
    case .later(let reason, let retryAfterSeconds):
      revocationQueue.end {
        $0.fail(reason, at: now.bootSeconds, spread: random, retryAfterSeconds: retryAfterSeconds)
      }
    }
    guard isOver else { return proceed(at: now) }
    revocationQueue.succeed()
    return change(.dropRevocation(revocation), id: id, at: now)
  }
}
