package import HTTPTerms
import JSONCoding
package import Sealing

/// A JWT that shows the possession of a key, for one request (RFC 9449 §4.2). The key that signs it stays with whoever lends
/// `sign`.
package struct ProofOfPossession: Sendable {
  /// `htm`: the request's method.
  package var method: String
  /// `htu`: the request's URL, without query and fragment.
  package let target: String
  /// `iat`, Unix seconds.
  package var issuedAt: Int64
  /// `jti`: a proof is used once.
  package var id: String
  /// `ath` is made of it; nil at an authorization server, where there is no access token yet.
  package var accessToken: Secret?
  /// As the server gave it, see ``DPoPNonce``.
  package var nonce: String?

  /// The header field in which it goes.
  package static let field = "DPoP"

  package init(
    method: String, url: WebURL, issuedAt: Int64, id: String, accessToken: Secret? = nil, nonce: String? = nil
  ) {
    self.method = method
    target = Self.target(of: url)
    self.issuedAt = issuedAt
    self.id = id
    self.accessToken = accessToken
    self.nonce = nonce
  }

  /// Scheme, host and port as RFC 3986 §6.2 normalizes them, and the path as it is written; `/` where there is none.
  static func target(of url: WebURL) -> String { url.origin.description + (url.path.isEmpty ? "/" : url.path) }

  /// RFC 9449 §4.1
  static func hash(of accessToken: Secret) -> String { Base64URL.encode(Digest.sha256(accessToken)) }

  private struct Claims: Encodable {
    var ath: String?
    var htm: String
    var htu: String
    var iat: Int64
    var jti: String
    var nonce: String?
  }

  /// JWS Compact Serialization (RFC 7515 §3.1). `publicKey` is the JWK of the key, one JSON object with its public members
  /// alone; `sign` gets the signing input.
  package func signed(
    algorithm: String, publicKey: String, _ sign: ([UInt8]) throws(ProtocolError) -> [UInt8]
  ) throws(ProtocolError) -> String {
    let claims = Claims(
      ath: accessToken.map(Self.hash), htm: method, htu: target, iat: issuedAt, jti: id, nonce: nonce)
    guard let payload = try? JSONWriter.bytes(of: claims) else {
      throw .clientAuthentication("the proof of possession cannot be written down")
    }
    let header = "{\"alg\":\"\(algorithm)\",\"jwk\":\(publicKey),\"typ\":\"dpop+jwt\"}"
    let input = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(payload)
    return input + "." + Base64URL.encode(try sign(Array(input.utf8)))
  }
}

extension HTTPAnswer {
  /// The nonce for the next proof; nil: none was given that can be used.
  package var nextNonce: String? { DPoPNonce.given(by: headers.values(DPoPNonce.field)) }

  /// The nonce without which an authorization server has refused the request (RFC 9449 §8): nothing of it was used up. Nil:
  /// it was not refused for that, or no usable nonce came with it.
  package var demandedNonce: String? {
    guard [400, 401].contains(status), case .object(let object) = TokenBody(self), object.problem == nil,
      object.repeated(["error"]) == nil, object.text("error", limit: 128) == OAuthError.useNonce
    else { return nil }
    return nextNonce
  }
}
