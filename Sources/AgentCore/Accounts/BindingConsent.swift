import AgentWire

/// What a person agrees to: the binding that results, and how it differs from what there is, as both were shown. Where a
/// change comes from counts, too: whoever said yes to "A → B" has not agreed that B gets what is C's by now.
struct BindingConsent {
  let binding: DefinitionBinding
  let differences: [DefinitionDifference]
  /// `GrantRecord.loginID` of the login that is bound anew, and of those that lend to it. They may be anybody's by now whose
  /// server names nobody.
  let logins: [String]
  /// ``AccountRecord/clientSecretOrder`` of the client secret that would be sent by that login.
  var clientSecretOrder: UInt64?

  var digest: String {
    var digest = TextDigest("oauthctl agreement 1")
    digest.add(binding.digest)
    digest.add(differences.flatMap { [$0.key, $0.was, $0.now] })
    digest.add(logins)
    digest.add(clientSecretOrder.map { String($0) })
    return digest.hex
  }
}
