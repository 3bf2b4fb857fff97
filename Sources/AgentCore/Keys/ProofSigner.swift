import HTTPTerms
import OAuthProtocol
import Sealing
import TokenVault

/// Signs proofs for callers, one after the other on a thread of its own. A signature by an RSA key takes twenty milliseconds:
/// of thousands of callers nobody else waits for that, and none of them for keys that are being made.
actor ProofSigner {
  private nonisolated let executor = BlockingExecutor(label: "oauthctl.proofs")
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// `proof` signed, with `nonce` or the one that was last given for `origin`. Nothing is signed for a caller who has left.
  func sign(
    _ proof: ProofOfPossession, with key: Secret, nonce: String?, at origin: Origin, remembering nonces: ServerNonces
  ) throws(ProtocolError) -> String {
    guard !Task.isCancelled else { throw .clientAuthentication("the caller has left, so no proof is made") }
    let key = try ProofKey(stored: key)
    if let nonce { nonces.set(nonce, for: origin, key: key.thumbprint) }
    var proof = proof
    proof.nonce = nonce ?? nonces.nonce(for: origin, key: key.thumbprint)
    return try key.sign(proof)
  }
}
