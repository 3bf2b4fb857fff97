import HTTPTerms
import OAuthProtocol
import OAuthTerms
import Sealing
import Signing

/// What makes an assertion one of its kind: when it is made, and a number that was never used.
struct ClientProof: Sendable {
  /// Unix seconds, by the server's clock where it is known: an assertion is good for a minute.
  let seconds: Int64
  let id: String

  /// Another one, for what stands beside the first in one request.
  var other: ClientProof { ClientProof(seconds: seconds, id: id + "-2") }

  private init(seconds: Int64, id: String) {
    self.seconds = seconds
    self.id = id
  }

  init(at now: Moment, random: any RandomSource) {
    seconds = Int64(now.wallSeconds + (now.behindSeconds ?? 0))
    id = Base64URL.encode(random.bytes(16))
  }
}

extension DefinitionBinding {
  /// The client as this login's server knows it, for a request to `endpoint`. `secret` is the client secret or the private
  /// key.
  func client(_ secret: Secret?, _ proof: ClientProof, to endpoint: WebURL) throws(ProtocolError) -> OAuthClient {
    let obstacle = ClientObstacle(clientAuthentication, secret, to: endpoint)
    guard obstacle == nil, let method = ClientAuthenticationMethod(rawValue: clientAuthentication) else {
      throw .clientAuthentication((obstacle ?? .unknownMethod).reason(clientAuthentication))
    }
    return try OAuthClient(
      id: clientID,
      authentication: try method.with(
        secret,
        sign: { (secret) throws(ProtocolError) in try assertion(proof, to: endpoint.text).signed(with: secret, method)
        },
        show: { (secret) throws(ProtocolError) in try ConnectionCertificate(stored: secret) }))
  }

  /// `grant` as it is sent: one that is an assertion (RFC 7523 §2.1) is signed, for the user that the account names or for
  /// the client itself. Some servers want the scope in it (Google), others beside it.
  func signed(
    _ grant: TokenRequestGrant, scope: [String], _ secret: Secret?, _ proof: ClientProof
  ) throws(ProtocolError) -> TokenRequestGrant {
    switch grant.missing {
    case nil: return grant
    case .lentTokens?: throw .clientAuthentication("the grant needs a token of another account, and none is there")
    case .assertion?: break
    }
    guard let secret else { throw .clientAuthentication("the grant needs a private key, and none is kept") }
    var assertion = assertion(proof, to: tokenEndpoint)
    assertion.subject = request?.username ?? clientID
    assertion.scope = scope.isEmpty ? nil : scope.joined(separator: " ")
    return grant.with(assertion: try assertion.signed(with: secret, .privateKeyJWT))
  }

  private func isAtTokenEndpoint(_ endpoint: String) -> Bool {
    guard let origin = (try? WebURL(endpoint))?.origin else { return false }
    return origin == (try? WebURL(tokenEndpoint))?.origin
  }

  /// It is good at the server that was agreed to, and nowhere else.
  private func assertion(_ proof: ClientProof, to endpoint: String) -> ClientAssertion {
    let audience =
      switch assertionAudience {
      // Another server than that of the token endpoint would get what is good there.
      case .tokenEndpoint?: isAtTokenEndpoint(endpoint) ? tokenEndpoint : endpoint
      case .endpoint?: endpoint
      case .issuer?, nil: issuer
      }
    return ClientAssertion(
      issuer: clientID, subject: clientID, audience: audience, issuedAt: proof.seconds, id: proof.id)
  }
}

extension ConnectionCertificate {
  /// Of the key that the vault keeps as `stored`. Throws ``ProtocolError/clientAuthentication(_:)``.
  init(stored: Secret) throws(ProtocolError) {
    let key: ClientKey
    do { key = try ClientKey(stored: stored) } catch { throw .clientAuthentication("\(error)") }
    self.init(key: key.key.pkcs8, certificates: key.certificate?.chain ?? [])
  }
}

extension ClientAssertion {
  /// Throws ``ProtocolError/clientAuthentication(_:)`` where `secret` does not fit `method`.
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
