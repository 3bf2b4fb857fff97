import JSONCoding

extension AccountRecord {
  /// Revocations that wait, at most: a server that takes none must not fill the record, which the vault bounds.
  package static let mostRevocations = 64
  /// Bytes of them, as they are kept: a quarter of the most that a record may have.
  package static let mostRevocationBytes = 256 << 10

  /// Adds what the server has to be told. Where that is more than is kept, the oldest go: those tokens live until they end
  /// by themselves.
  package mutating func owe(_ more: [RevocationRecord]) {
    revocations += more
    var left = Self.mostRevocationBytes
    let kept = revocations.reversed().prefix { revocation in
      left -= (try? JSONWriter.bytes(of: revocation).count) ?? 0
      return left >= 0
    }
    let most = max(min(kept.count, Self.mostRevocations), more.count)
    revocations.removeFirst(max(0, revocations.count - most))
  }

  /// Notes of what `before` did not owe that it is younger than the rollback.
  mutating func markRevocations(insteadOf before: AccountRecord?, afterRollback rollback: UInt64?) {
    guard let rollback else { return }
    for index in revocations.indices {
      let (token, since) = (revocations[index].token, revocations[index].since)
      let isOld = before?.revocations.contains { $0.token == token && $0.since == since } == true
      if !isOld { revocations[index].afterRollback = rollback }
    }
  }

  /// What is told next, one of each lane: tokens before the client, whose deletion may wait for another account for weeks; and
  /// no token that a login could end with, be it this account's or one of `logins`.
  func nextRevocations(beside logins: [LoginAtServer] = [], at now: Moment) -> [RevocationRecord] {
    guard !revocations.isEmpty else { return [] }
    let logins = logins + [LoginAtServer(self, isOwn: true, at: now)].compactMap(\.self)
    let due = revocations.filter { revocation in
      !logins.contains { $0.mayEnd(with: revocation) } && !owesTokens(before: revocation)
    }
    var lanes: Set<RevocationQueue.Lane> = []
    return (due.filter { $0.clientURI == nil } + due.filter { $0.clientURI != nil })
      .filter { lanes.insert(RevocationQueue.Lane($0)).inserted }
  }

  /// Whether tokens are to be revoked by a client before its `deletion`, after which it revokes none. Those that are to go by
  /// another way may wait for ever.
  func owesTokens(before deletion: RevocationRecord) -> Bool {
    deletion.clientURI != nil
      && revocations.contains {
        $0.clientURI == nil && $0.binding.clientID == deletion.binding.clientID
          && $0.binding.issuer == deletion.binding.issuer && $0.binding.route == deletion.binding.route
      }
  }
}
