package import AgentWire
import OAuthTerms
import Signing

/// A client's private key is kept as its client secret is: sealed with the account, bound to the server that it was made for,
/// and forgotten in the same ways. No request reads it.
extension CredentialService {
  package func setKey(_ request: KeySet) async throws(AgentFailure) -> KeySetAnswer {
    try await open()
    let name = try select(account: request.account, url: nil).name
    guard hasPrivateKey(name) else {
      throw .noUseForKey(name, file: accounts[name]?.machine.definition?.file ?? "it")
    }
    if let shown = request.secretPlace { try await check(shown, of: name) }
    let replaces = request.replace == true
    // Before a key is made; what decides is the change itself.
    guard replaces || accounts[name]?.machine.record?.keeps(.clientSecret) != true else { throw .keyIsThere(name) }
    let key = try await keyMaker.key(request, name)
    let place = accounts[name]?.machine.definition.map { secretPlace($0) }
    try await change(name, .setSecret(.clientSecret, key.stored, place: place?.digest, replaces: replaces))
    return KeySetAnswer(publicKey: key.publicJWK)
  }

  func hasPrivateKey(_ name: String) -> Bool {
    accounts[name]?.machine.definition?.needsPrivateKey ?? false
  }
}

extension AccountDefinition {
  var needsPrivateKey: Bool {
    ClientAuthenticationMethod.needsPrivateKey(
      clientAuthentication.flatMap(ClientAuthenticationMethod.init(rawValue:)), grant)
  }
}
