import AgentWire
import OAuthProtocol
import OAuthTerms
import Sealing
import Signing
import TokenVault

/// Makes keys, and reads those that are given, on a thread of its own: an RSA key takes seconds, and others wait for the
/// service meanwhile.
actor KeyMaker {
  private nonisolated let executor = BlockingExecutor(label: "oauthctl.keys")
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Nothing is made for a caller who has left.
  func key(_ request: KeySet, _ name: String) throws(AgentFailure) -> ClientKey {
    guard !Task.isCancelled else { throw AgentFailure(.timeout, "\(name): nobody waits for the key any more") }
    return try made(request, name)
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
      throw AgentFailure(.badRequest, "\(name): \(reason)")
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
      .badRequest, "\(account): it has a key, which nobody could get back",
      hint: .run("oauthctl key show \(account)   # to put another in its place: --replace"))
  }
}
