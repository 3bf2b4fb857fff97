package import AgentWire
import OAuthProtocol
import OAuthTerms
import Sealing
import Signing

/// A client's private key is kept as its client secret is: sealed with the account, bound to the server that it was made for,
/// and forgotten in the same ways. No request reads it.
extension CredentialService {
  package func setKey(_ request: KeySet) async throws(AgentFailure) -> KeySetAnswer {
    try await open(looksAtFiles: false)
    let name = try select(account: request.account, url: nil).name
    try await checkIsRead(name)
    guard hasPrivateKey(name) else {
      throw .noUseForKey(name, file: accounts[name]?.machine.definition?.file ?? "it")
    }
    if let shown = request.secretPlace { try await check(shown, of: name) }
    // A key takes its time, and the file may change meanwhile: the key is for the server of now.
    let place = accounts[name]?.machine.definition.map { secretPlace($0) }
    let now = Int64(time.now().wallSeconds)
    if let kept = try keptKey(of: name, for: request) {
      let key = try await keyMaker.certifiedKey(request, name, kept: kept.secret, now: now, random: random)
      try await change(name, .setCertificate(key.stored, of: kept))
      return KeySetAnswer(publicKey: key.publicJWK, isCertificateAlone: true)
    }
    let replaces = request.replace == true
    // Before a key is made; what decides is the change itself.
    guard replaces || accounts[name]?.machine.record?.keeps(.clientSecret) != true else { throw .keyIsThere(name) }
    let key: ClientKey
    if accounts[name]?.machine.definition?.showsCertificate == true {
      key = try await keyMaker.certifiedKey(request, name, kept: nil, now: now, random: random)
    } else {
      key = try await keyMaker.key(request, name)
    }
    try await change(name, .setSecret(.clientSecret, key.stored, place: place?.digest, replaces: replaces))
    return KeySetAnswer(publicKey: key.publicJWK)
  }

  /// The key that is kept, which a certificate that comes alone is for: nothing of it is lost by that. Nil: `request` is no
  /// such thing.
  private func keptKey(of name: String, for request: KeySet) throws(AgentFailure) -> StoredSecret? {
    guard accounts[name]?.machine.definition?.showsCertificate == true,
      let text = request.key, GivenKey.isCertificateAlone(Secret(text))
    else { return nil }
    guard let kept = accounts[name]?.machine.record?.clientSecret, ClientKey.isStored(kept.secret) else {
      throw AgentFailure(
        .badRequest, "\(name): it has no key for this certificate",
        hint: .run("cat KEY CERTIFICATE | oauthctl key import \(name)"))
    }
    return kept
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
