import AgentWire
import HTTPTerms
import OAuthProtocol
import OAuthTerms
import Sealing
import Signing
import TokenVault

/// Makes keys, reads those that are given, and signs for callers, one after the other on a thread of its own. An RSA key takes
/// seconds and a signature by it twenty milliseconds: of thousands of callers nobody else waits for that.
actor KeyMaker {
  private nonisolated let executor = BlockingExecutor(label: "oauthctl.keys")
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Nothing is made for a caller who has left.
  func key(_ request: KeySet, _ name: String) throws(AgentFailure) -> ClientKey {
    guard !Task.isCancelled else { throw AgentFailure(.timeout, "\(name): nobody waits for the key any more") }
    return try made(request, name)
  }

  /// A new key for the tokens of a login, as it is sealed with them.
  func proofKey(for algorithm: SignatureAlgorithm, _ account: String) throws(AgentFailure) -> Secret {
    try ProofKey.made(for: algorithm, account)
  }

  /// `proof` signed, with `nonce` or the one that was last given for `origin`. Nothing is signed for a caller who has left.
  func sign(
    _ proof: ProofOfPossession, with key: Secret, nonce: String?, at origin: Origin, remembering nonces: ServerNonces
  ) throws(ProtocolError) -> String {
    guard !Task.isCancelled else { throw .clientAuthentication("nobody waits for the proof any more") }
    let key = try ProofKey(stored: key)
    if let nonce { nonces.set(nonce, for: origin, key: key.thumbprint) }
    var proof = proof
    proof.nonce = nonce ?? nonces.nonce(for: origin, key: key.thumbprint)
    return try key.sign(proof)
  }

  private func made(_ request: KeySet, _ name: String) throws(AgentFailure) -> ClientKey {
    guard let text = request.key else {
      guard let algorithm = SignatureAlgorithm(rawValue: request.algorithm ?? SignatureAlgorithm.standard.rawValue)
      else { throw AgentFailure(.badRequest, "algorithm is \(SignatureAlgorithm.choice)") }
      do { return try ClientKey(newFor: algorithm) } catch { throw .signing(error, name) }
    }
    guard request.algorithm == nil else { throw AgentFailure(.badRequest, "key and algorithm: a key has its own") }
    let given: GivenKey
    do { given = try GivenKey(Secret(text)) } catch {
      let reason = if case .clientAuthentication(let reason) = error { reason } else { "\(error)" }
      throw AgentFailure(
        .badRequest, "\(name): \(reason)",
        hint: reason == PEMText.encrypted ? .run("openssl pkey -in FILE | oauthctl key import \(name)") : nil)
    }
    do throws(SigningError) {
      let key = try ClientKey(der: given.der, algorithm: given.algorithm, keyID: given.keyID)
      if let expected = given.expectedX, expected != key.key.publicKey.first {
        throw .noKey("its \"x\" is that of another key")
      }
      return key
    } catch { throw .signing(error, name) }
  }
}

extension AgentFailure {
  static func keyIsThere(_ account: String) -> AgentFailure {
    AgentFailure(
      .badRequest, "\(account): it has a key already, and one that is replaced is gone for good",
      hint: "to put another in its place, add --replace; this shows it: oauthctl key show \(account)")
  }
}
