import JSONCoding
package import Sealing

/// A JWT by which a client proves itself (RFC 7523 §3, OpenID Connect Core §9), or asks for a token (RFC 7523 §2.1): who
/// says it, to whom, and for how short a time. The key that signs it stays with whoever lends `sign`.
package struct ClientAssertion: Sendable {
  /// `iss`
  package var issuer: String
  /// `sub`
  package var subject: String
  /// `aud`, one alone: what one server is told is worth nothing at another.
  package var audience: String
  /// `iat`, Unix seconds.
  package var issuedAt: Int64
  /// `jti`: an assertion is used once.
  package var id: String
  /// `scope`, where the assertion is the grant (Google).
  package var scope: String?

  package static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
  /// Seconds for which it is good: as long as the request that carries it may take.
  package static let lifeSeconds: Int64 = 60

  package init(issuer: String, subject: String, audience: String, issuedAt: Int64, id: String, scope: String? = nil) {
    self.issuer = issuer
    self.subject = subject
    self.audience = audience
    self.issuedAt = issuedAt
    self.id = id
    self.scope = scope
  }

  private struct Header: Encodable {
    var alg: String
    var kid: String?
    var typ = "JWT"
  }

  private struct Claims: Encodable {
    var aud: String
    var exp: Int64
    var iat: Int64
    var iss: String
    var jti: String
    var scope: String?
    var sub: String
  }

  /// JWS Compact Serialization (RFC 7515 §3.1). `sign` gets the signing input.
  package func signed(
    algorithm: String, keyID: String?, _ sign: ([UInt8]) throws(ProtocolError) -> [UInt8]
  ) throws(ProtocolError) -> Secret {
    let input =
      try Self.encoded(Header(alg: algorithm, kid: keyID)) + "."
      + Self.encoded(
        Claims(
          aud: audience, exp: issuedAt + Self.lifeSeconds, iat: issuedAt, iss: issuer, jti: id, scope: scope,
          sub: subject))
    return Secret(input + "." + Base64URL.encode(try sign(Array(input.utf8))))
  }

  private static func encoded(_ value: some Encodable) throws(ProtocolError) -> String {
    guard let bytes = try? JSONWriter.bytes(of: value) else {
      throw .clientAuthentication("the assertion cannot be written down")
    }
    return Base64URL.encode(bytes)
  }
}
