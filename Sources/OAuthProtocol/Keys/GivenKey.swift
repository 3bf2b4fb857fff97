package import Sealing

/// A private key as somebody gives it: PEM (RFC 7468), a JWK (RFC 7517), or the key file of a Google service account. Read
/// as far as to the numbers in it; whether they make a key is for ``SigningKey`` to say.
package struct GivenKey: Sendable {
  /// PKCS #8, PKCS #1 or SEC 1.
  package let der: Secret
  /// `alg` and `kid`, where they came with it.
  package var algorithm: String?
  package var keyID: String?
  /// Of a JWK whose private half decides the public one: what that is said to be.
  package var expectedX: [UInt8]?

  /// Longest text, bytes: an RSA key of 16,384 bits as PEM has 13,000.
  package static let limitBytes = 32_768

  /// Whether `text` is PEM with certificates and no key, for a key that is known already.
  package static func isCertificateAlone(_ text: Secret) -> Bool { PEMText.holdsCertificatesAlone(text) }

  /// Those of `text`, DER. Throws as ``init(_:)``.
  package static func certificates(in text: Secret) throws(ProtocolError) -> [[UInt8]] {
    guard text.count <= limitBytes else {
      throw .clientAuthentication("the certificates are longer than \(limitBytes) bytes")
    }
    return try PEMText.certificates(in: text)
  }

  /// Throws ``ProtocolError/clientAuthentication(_:)`` with what is wrong, without a word of the key.
  package init(_ text: Secret) throws(ProtocolError) {
    guard text.count <= Self.limitBytes else {
      throw .clientAuthentication("the key is longer than \(Self.limitBytes) bytes")
    }
    let first = text.withBytes { $0.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } }
    if first == UInt8(ascii: "{") { self = try Self.object(text) } else { der = try PEMText.privateKey(in: text) }
  }

  private init(der: Secret) { self.der = der }

  private static func object(_ text: Secret) throws(ProtocolError) -> GivenKey {
    let object = JSONObject(reading: text)
    if let problem = object.problem { throw .clientAuthentication("the key is not usable: \(problem.rawValue)") }
    let names = ["kty", "crv", "d", "x", "y", "n", "e", "p", "q", "dp", "dq", "qi", "alg", "kid", "private_key", "k"]
    if let name = object.repeated(names) { throw .clientAuthentication("the key holds \"\(name)\" twice") }
    var key: GivenKey
    if case .string(let pem)? = object.value("private_key") {
      // What Google gives for a service account.
      key = GivenKey(der: try PEMText.privateKey(in: pem))
      key.keyID = object.text("private_key_id", limit: 128)
      return key
    }
    switch object.text("kty", limit: 16) {
    case "EC": key = GivenKey(der: try ellipticCurve(object))
    case "RSA": key = GivenKey(der: try rsa(object))
    case "OKP": key = try edwards(object)
    case "oct": throw .clientAuthentication("the key is a shared secret; give it as the client secret")
    default: throw .clientAuthentication("the key's kty is none of EC, RSA and OKP")
    }
    // Left out is something else than not understood.
    if object.value("alg") != nil { key.algorithm = object.text("alg", limit: 16) ?? "" }
    if object.value("kid") != nil { key.keyID = object.text("kid", limit: 128) ?? "" }
    return key
  }

  /// `bytes`: how many the number has; nil: any.
  private static func number(_ name: String, _ object: JSONObject, bytes: Int? = nil) throws(ProtocolError) -> Secret {
    guard case .string(let text)? = object.value(name) else {
      throw .clientAuthentication(
        ["d", "p", "q", "dp", "dq", "qi"].contains(name)
          ? "the key lacks \"\(name)\"; the private key is needed whole" : "the key lacks \"\(name)\"")
    }
    guard text.count <= 1_400, let decoded = Base64URL.decode(text.reveal()), !decoded.isEmpty,
      bytes == nil || decoded.count == bytes
    else { throw .clientAuthentication("the key's \"\(name)\" is not base64url of the length that it has") }
    return Secret(decoded)
  }

  private static func ellipticCurve(_ object: JSONObject) throws(ProtocolError) -> Secret {
    let (bytes, curve): (Int, [UInt8])
    switch object.text("crv", limit: 16) {
    case "P-256": (bytes, curve) = (32, [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07])
    case "P-384": (bytes, curve) = (48, [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22])
    default: throw .clientAuthentication("the key's crv is none of P-256, P-384 and Ed25519")
    }
    let d = try number("d", object, bytes: bytes)
    let x = try number("x", object, bytes: bytes)
    let y = try number("y", object, bytes: bytes)
    var point = WipedBuffer(capacity: 1 + 2 * bytes)
    point.append(4)
    for half in [x, y] { half.withBytes { point.append(contentsOf: $0) } }
    // ECPrivateKey (RFC 5915).
    return DERWriter.sequence([
      .integer(Secret([1])), .octets(d), .explicit(0, .encoded(curve)), .explicit(1, .bits(point.secret())),
    ]).secret
  }

  private static func rsa(_ object: JSONObject) throws(ProtocolError) -> Secret {
    if object.value("oth") != nil { throw .clientAuthentication("the key has more than two primes") }
    // RSAPrivateKey (RFC 8017 A.1.2).
    var values: [DERWriter] = [.integer(Secret([0]))]
    for name in ["n", "e", "d", "p", "q", "dp", "dq", "qi"] { values.append(.integer(try number(name, object))) }
    return DERWriter.sequence(values).secret
  }

  private static func edwards(_ object: JSONObject) throws(ProtocolError) -> GivenKey {
    guard object.text("crv", limit: 16) == "Ed25519" else {
      throw .clientAuthentication("the key's crv is none of P-256, P-384 and Ed25519")
    }
    let d = try number("d", object, bytes: 32)
    // OneAsymmetricKey (RFC 8410 §7).
    var key = GivenKey(
      der: DERWriter.sequence([
        .integer(Secret([0])), .sequence([.encoded([0x06, 0x03, 0x2B, 0x65, 0x70])]),
        .octets(DERWriter.octets(d).secret),
      ]).secret)
    key.expectedX = try number("x", object, bytes: 32).withBytes { Array($0) }
    return key
  }
}
