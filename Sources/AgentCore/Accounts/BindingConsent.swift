import AgentWire

/// What a person agrees to: the binding that results, and how it differs from what there is, as both were shown. Where a
/// change comes from counts, too: whoever said yes to "A → B" has not agreed that B gets what is C's by now.
struct BindingConsent {
  let binding: DefinitionBinding
  let differences: [DefinitionDifference]
  /// `GrantRecord.loginID` of the login that is bound anew, and of those that lend to it. They may be anybody's by now whose
  /// server names nobody.
  let logins: [String]
  /// What is kept and would be sent there. One that is set under the question is for where the file leads just then.
  let secrets: SecretOrders

  var digest: String {
    var digest = TextDigest("oauthctl agreement 1")
    digest.add(binding.digest)
    digest.add(differences.flatMap { [$0.key, $0.was, $0.now] })
    digest.add(logins)
    for order in [secrets.clientSecret, secrets.password] { digest.add(order.map { String($0) }) }
    return digest.hex
  }
}
