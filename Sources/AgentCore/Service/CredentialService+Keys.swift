package import AgentWire
import OAuthProtocol
import OAuthTerms
import Sealing
import Signing

/// A client's private key is kept as its client secret is: sealed with the account, bound to the server that it was made for,
/// and forgotten in the same ways. No request reads it.
extension CredentialService {
  package func setKey(_ request: KeySet) async throws(AgentFailure) -> KeySetAnswer {
    try await open()
    let name = try select(account: request.account, url: nil).name
    guard hasPrivateKey(name) else {
      throw AgentFailure(
        .configInvalid, "\(name): its file names no use for a private key",
        hint:
          "write client_authentication = \"private_key_jwt\", or grant = \"jwt_bearer\", into \(accounts[name]?.machine.definition?.file ?? "it")"
      )
    }
    if let shown = request.secretPlace { try await check(shown, of: name) }
    let replaces = request.replace == true
    // Before a key is made; what decides is the change itself.
    guard replaces || accounts[name]?.machine.record?.keeps(.clientSecret) != true else { throw .keyIsThere(name) }
    let key = try Self.key(request, name)
    let place = accounts[name]?.machine.definition.map { secretPlace($0) }
    try await change(name, .setSecret(.clientSecret, key.stored, place: place?.digest, replaces: replaces))
    return KeySetAnswer(publicKey: key.publicJWK)
  }

  func hasPrivateKey(_ name: String) -> Bool {
    guard let definition = accounts[name]?.machine.definition else { return false }
    return definition.clientAuthentication == ClientAuthenticationMethod.privateKeyJWT.rawValue
      || definition.grant.terms.need == .privateKey
  }

  private static func key(_ request: KeySet, _ name: String) throws(AgentFailure) -> ClientKey {
    guard let text = request.key else {
      guard let algorithm = SignatureAlgorithm(rawValue: request.algorithm ?? SignatureAlgorithm.standard.rawValue)
      else { throw AgentFailure(.badRequest, "algorithm is \(SignatureAlgorithm.choice)") }
      do { return try ClientKey(newFor: algorithm) } catch { throw failure(error, name) }
    }
    guard request.algorithm == nil else { throw AgentFailure(.badRequest, "key and algorithm: a key has its own") }
    let given: GivenKey
    do { given = try GivenKey(Secret(text)) } catch {
      let reason = if case .clientAuthentication(let reason) = error { reason } else { "\(error)" }
      throw AgentFailure(.badRequest, "\(name): \(reason)")
    }
    do throws(SigningError) {
      let key = try ClientKey(der: given.der, algorithm: given.algorithm, keyID: given.keyID)
      if let expected = given.expectedX, expected != key.key.publicKey.first {
        throw .noKey("its \"x\" is that of another key")
      }
      return key
    } catch { throw failure(error, name) }
  }

  private static func failure(_ error: SigningError, _ name: String) -> AgentFailure {
    switch error {
    case .noKey(let reason): AgentFailure(.badRequest, "\(name): the key is refused: \(reason)")
    case .noLibrary: AgentFailure(.unavailable, "\(error)", hint: .run("apt install libssl3"))
    case .failed: AgentFailure(.internal, "\(name): \(error)")
    }
  }
}

extension AgentFailure {
  static func keyIsThere(_ account: String) -> AgentFailure {
    AgentFailure(
      .badRequest, "\(account): it has a key, which nobody could get back",
      hint: .run("oauthctl key show \(account)   # to put another in its place: --replace"))
  }
}
