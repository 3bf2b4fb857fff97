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

  /// What is told next, one of each client at each server: tokens before the client, whose deletion may wait for another
  /// account for weeks; and no token that a login could end with. `client` is the one of a login that is under way.
  func nextRevocations(besideLoginOf client: String? = nil) -> [RevocationRecord] {
    guard !revocations.isEmpty else { return [] }
    let due = revocations.filter { !mayEndLogin($0, of: client) }
    var lanes: Set<RevocationQueue.Lane> = []
    return (due.filter { $0.clientURI == nil } + due.filter { $0.clientURI != nil })
      .filter { lanes.insert(RevocationQueue.Lane($0)).inserted }
  }

  /// Those that wait for the end of the login that is there.
  var heldRevocations: [RevocationRecord] { revocations.filter { mayEndLogin($0, of: nil) } }

  /// Many servers end whatever a person has granted a client with any token of it, a newer login, too (RFC 7009 §2.1 leaves
  /// that to them).
  private func mayEndLogin(_ revocation: RevocationRecord, of client: String?) -> Bool {
    guard revocation.clientURI == nil else { return false }
    return revocation.binding.clientID == client || grant?.mayEnd(with: revocation.binding) == true
  }
}
