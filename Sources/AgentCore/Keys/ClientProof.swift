import OAuthProtocol
import OAuthTerms
import Sealing
import Signing

/// What makes an assertion one of its kind: when it is made, and a number that was never used.
struct ClientProof: Sendable {
  /// Unix seconds, by the server's clock where it is known: an assertion is good for a minute.
  let seconds: Int64
  let id: String

  init(at now: Moment, random: any RandomSource) {
    seconds = Int64(now.wallSeconds + (now.behindSeconds ?? 0))
    id = Base64URL.encode(random.bytes(16))
  }
}

/// Whom an assertion is for.
package enum AssertionAudience: String, Sendable, CaseIterable, Codable {
  /// The server's name: what no other server has (RFC 7523bis).
  case issuer
  /// What older servers want, RFC 7523 §3 having named it.
  case tokenEndpoint = "token_endpoint"
}

extension DefinitionBinding {
  /// The client as this login's server knows it. `secret` is the client secret or the private key.
  func client(_ secret: Secret?, _ proof: ClientProof) throws(ProtocolError) -> OAuthClient {
    guard let method = ClientAuthenticationMethod(rawValue: clientAuthentication) else {
      throw .clientAuthentication("\(clientAuthentication) is not a known method")
    }
    // By any other method it would be sent.
    if let secret, method != .privateKeyJWT, ClientKey.isStored(secret) {
      throw .clientAuthentication(
        "what is kept is a private key, which \(clientAuthentication) would send; nothing is sent")
    }
    return try OAuthClient(
      id: clientID,
      authentication: try method.with(secret) { (secret) throws(ProtocolError) in
        try assertion(proof).signed(with: secret, method)
      })
  }

  /// It is good at the server that was agreed to, and nowhere else.
  private func assertion(_ proof: ClientProof) -> ClientAssertion {
    let audience =
      switch assertionAudience {
      case .tokenEndpoint?: tokenEndpoint
      case .issuer?, nil: issuer
      }
    return ClientAssertion(
      issuer: clientID, subject: clientID, audience: audience, issuedAt: proof.seconds, id: proof.id)
  }
}

extension ClientAssertion {
  /// Throws ``ProtocolError/clientAuthentication(_:)`` where `secret` is none for `method`.
  func signed(with secret: Secret, _ method: ClientAuthenticationMethod) throws(ProtocolError) -> Secret {
    guard method == .privateKeyJWT else {
      return try signed(algorithm: "HS256", keyID: nil) { (input) throws(ProtocolError) in
        HMAC.sha256(input, key: secret)
      }
    }
    let key: ClientKey
    do { key = try ClientKey(stored: secret) } catch { throw .clientAuthentication("\(error)") }
    return try signed(algorithm: key.algorithm.rawValue, keyID: key.keyID) { (input) throws(ProtocolError) in
      do { return try key.signature(of: input) } catch { throw .clientAuthentication("\(error)") }
    }
  }
}
