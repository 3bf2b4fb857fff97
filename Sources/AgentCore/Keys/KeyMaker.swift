import AgentWire
import OAuthProtocol
import OAuthTerms
import Sealing
import Signing
import TokenVault

/// Makes keys, and reads those that are given, one after the other on a thread of its own: an RSA key takes seconds.
actor KeyMaker {
  private nonisolated let executor = BlockingExecutor(label: "oauthctl.keys")
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Nothing is made for a caller who has left.
  func key(_ request: KeySet, _ name: String) throws(AgentFailure) -> ClientKey {
    guard !Task.isCancelled else { throw AgentFailure(.timeout, "\(name): nobody waits for the key any more") }
    return try made(request, name)
  }

  /// As ``key(_:_:)``, for a client that shows a certificate: the one that came with the key, or one that a new key signs
  /// itself. A certificate that came alone is for the key `kept`. `now`: Unix seconds.
  func certifiedKey(
    _ request: KeySet, _ name: String, kept: Secret?, now: Int64, random: any RandomSource
  ) throws(AgentFailure) -> ClientKey {
    let key: ClientKey
    if let kept { key = try self.kept(kept, name) } else { key = try self.key(request, name) }
    guard let text = request.key else {
      do { return key.with(try ClientCertificate(selfSignedBy: key.key, name: name, now: now, random: random)) } catch {
        throw .signing(error, name)
      }
    }
    let chain: [[UInt8]]
    do { chain = try GivenKey.certificates(in: Secret(text)) } catch { throw .givenKey(error, name) }
    do throws(SigningError) {
      guard !chain.isEmpty else {
        throw .noKey("its certificate is missing; give both in PEM: cat KEY CERTIFICATE | oauthctl key import \(name)")
      }
      return key.with(try ClientCertificate(chain: chain, of: key.key))
    } catch { throw .signing(error, name) }
  }

  private func kept(_ key: Secret, _ name: String) throws(AgentFailure) -> ClientKey {
    do { return try ClientKey(stored: key) } catch { throw .signing(error, name) }
  }

  /// A new key for the tokens of a login, as it is sealed with them.
  func proofKey(for algorithm: SignatureAlgorithm, _ account: String) throws(AgentFailure) -> Secret {
    try ProofKey.made(for: algorithm, account)
  }

  private func made(_ request: KeySet, _ name: String) throws(AgentFailure) -> ClientKey {
    guard let text = request.key else {
      guard let algorithm = SignatureAlgorithm(rawValue: request.algorithm ?? SignatureAlgorithm.standard.rawValue)
      else { throw AgentFailure(.badRequest, "algorithm is \(SignatureAlgorithm.choice)") }
      do { return try ClientKey(newFor: algorithm) } catch { throw .signing(error, name) }
    }
    guard request.algorithm == nil else {
      throw AgentFailure(.badRequest, "algorithm is for a key that is made here; a key that is given has its own")
    }
    let given: GivenKey
    do { given = try GivenKey(Secret(text)) } catch { throw .givenKey(error, name) }
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
  fileprivate static func givenKey(_ error: ProtocolError, _ name: String) -> AgentFailure {
    let reason = if case .clientAuthentication(let reason) = error { reason } else { "\(error)" }
    return AgentFailure(
      .badRequest, "\(name): \(reason)",
      hint: reason == PEMText.encrypted ? .run("openssl pkey -in FILE | oauthctl key import \(name)") : nil)
  }

  static func keyIsThere(_ account: String) -> AgentFailure {
    AgentFailure(
      .badRequest, "\(account): it has a key already, and one that is replaced is gone for good",
      hint: "to put another in its place, add --replace; this shows it: oauthctl key show \(account)")
  }
}
