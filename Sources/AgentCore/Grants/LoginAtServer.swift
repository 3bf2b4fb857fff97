import OAuthProtocol

/// A login that lives or is under way, as its server knows it: by its client and its person.
///
/// Many servers end whatever a person has granted a client with any token of it (RFC 7009 §2.1 leaves that to them).
package struct LoginAtServer: Sendable {
  private let clientID: String
  private let issuer: String
  private let tokenEndpoint: String
  /// Nil: it is under way, or the latest.
  private let since: Moment?
  /// Nil: not known.
  private let user: EndUser?

  /// Nil where its server cannot take it for a login any more. `isLatest`: it came after whatever it is asked about, as the
  /// login of an account comes after its logouts, whatever the clocks said.
  package init?(_ grant: GrantRecord, isLatest: Bool = false) {
    guard grant.mayLive else { return nil }
    self.init(grant.binding, since: isLatest ? nil : grant.loggedIn, user: grant.identity?.endUser)
  }

  /// One that is under way by `binding`.
  package init(underWayBy binding: DefinitionBinding) { self.init(binding, since: nil, user: nil) }

  private init(_ binding: DefinitionBinding, since: Moment?, user: EndUser?) {
    (clientID, issuer, tokenEndpoint) = (binding.clientID, binding.issuer, binding.tokenEndpoint)
    (self.since, self.user) = (since, user)
  }

  /// Whether its server could end it with what `revocation` is about. A logout ends the logins of before it, too, as its server
  /// likes: they are not spared by it.
  package func mayEnd(with revocation: RevocationRecord) -> Bool {
    let binding = revocation.binding
    guard revocation.clientURI == nil, binding.clientID == clientID,
      binding.issuer == issuer || binding.tokenEndpoint == tokenEndpoint
    else { return false }
    if let user, let other = revocation.user, !user.isSame(as: other) { return false }
    guard let since, revocation.isOfUnkeptLogin != true else { return true }
    return since.seconds(since: revocation.since) > 0
  }
}
