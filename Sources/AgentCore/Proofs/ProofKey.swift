import AgentWire
import OAuthProtocol
import OAuthTerms
import Sealing
import Signing

/// The key that the tokens of a login are bound to (RFC 9449): made at the login, sealed with it, and gone with it.
struct ProofKey: Sendable {
  private let key: ClientKey

  /// A new one, as it is sealed with a grant. Throws `unavailable` or `internal`.
  static func made(for algorithm: SignatureAlgorithm, _ account: String) throws(AgentFailure) -> Secret {
    do { return try ClientKey(newFor: algorithm).stored } catch { throw .signing(error, account) }
  }

  /// Throws ``ProtocolError/clientAuthentication(_:)``.
  init(stored: Secret) throws(ProtocolError) {
    do { key = try ClientKey(stored: stored) } catch { throw .clientAuthentication("\(error)") }
  }

  /// RFC 7638; what `dpop_jkt` says (RFC 9449 §10).
  var thumbprint: String { key.key.publicKey.thumbprint }

  func sign(_ proof: ProofOfPossession) throws(ProtocolError) -> String {
    try proof.signed(algorithm: key.algorithm.rawValue, publicKey: key.key.publicKey.bareJWK) {
      (input) throws(ProtocolError) in
      do { return try key.signature(of: input) } catch { throw .clientAuthentication("\(error)") }
    }
  }
}

extension SignatureAlgorithm {
  /// For proofs: the first of ours that the server lists in `dpop_signing_alg_values_supported`. Where it lists none it is
  /// left to ES256, which every server has that binds tokens. Nil: it lists others alone.
  static func forProofs(supported: [String]?) -> SignatureAlgorithm? {
    guard let supported, !supported.isEmpty else { return .es256 }
    // The small keys first: each proof carries the key.
    let ours: [SignatureAlgorithm] = [.es256, .edDSA, .es384, .ps256, .rs256]
    return ours.first { supported.contains($0.rawValue) }
  }
}

extension ResolvedServer {
  /// By which the tokens of a login of `definition` are proven; nil: they are bound to no key. Throws `config_invalid` where
  /// the server takes proofs by no algorithm of ours.
  func proofAlgorithm(_ definition: AccountDefinition) throws(AgentFailure) -> SignatureAlgorithm? {
    guard definition.usesDPoP else { return nil }
    guard let algorithm = SignatureAlgorithm.forProofs(supported: proofAlgorithms) else {
      let listed = Escaped.serverText((proofAlgorithms ?? []).joined(separator: ", "), limit: 120)
      var failure = AgentFailure(
        .configInvalid, "\(definition.name): the server takes proofs of possession (DPoP) only by \(listed)",
        hint: "take dpop out of \(definition.file), if the server gives tokens without it")
      failure.obstacleKey = "dpop"
      throw failure
    }
    return algorithm
  }
}

extension AgentFailure {
  static func signing(_ error: SigningError, _ name: String) -> AgentFailure {
    switch error {
    case .noKey(let reason): AgentFailure(.badRequest, "\(name): the key is refused: \(reason)")
    case .noLibrary: AgentFailure(.unavailable, "\(error)", hint: .run("apt install libssl3"))
    case .failed: AgentFailure(.internal, "\(name): \(error)")
    }
  }
}
