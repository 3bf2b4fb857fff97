import OAuthProtocol

/// A login that lives or is under way, as its server knows it: by its client and its person.
///
/// Many servers end whatever a person has granted a client with any token of it (RFC 7009 §2.1 leaves that to them).
package struct LoginAtServer: Sendable {
  private let clientID: String
  private let issuer: String
  private let tokenEndpoint: String
  /// Its number among logins and logouts. Greater than any where it is under way, or of the account whose revocations it is asked
  /// about.
  private let order: UInt64
  /// Nil: not known.
  private let user: EndUser?

  /// Nil where its server cannot take it for a login any more. `isOwn`: it is of the account whose revocations it is asked about.
  package init?(_ record: AccountRecord, isOwn: Bool = false, at now: Moment) {
    guard let grant = record.grant, record.loginMayLive(at: now) else { return nil }
    self.init(grant.binding, order: isOwn ? .max : grant.order ?? 0, user: grant.identity?.presentUser)
  }

  /// One that is under way by `binding`.
  package init(underWayBy binding: DefinitionBinding) { self.init(binding, order: .max, user: nil) }

  private init(_ binding: DefinitionBinding, order: UInt64, user: EndUser?) {
    (clientID, issuer, tokenEndpoint) = (binding.clientID, binding.issuer, binding.tokenEndpoint)
    (self.order, self.user) = (order, user)
  }

  /// Whether its server could end it with what `revocation` is about. A logout ends the logins of before it, too, as its server
  /// likes: they are not spared by it.
  package func mayEnd(with revocation: RevocationRecord) -> Bool {
    guard revocation.clientURI == nil, isBy(revocation.binding) else { return false }
    if let user, let other = revocation.user, !user.isSame(as: other) { return false }
    return revocation.order.map { order > $0 } ?? true
  }

  /// Whether it is by that client, at that server.
  private func isBy(_ binding: DefinitionBinding) -> Bool {
    binding.clientID == clientID && (binding.issuer == issuer || binding.tokenEndpoint == tokenEndpoint)
  }
}
