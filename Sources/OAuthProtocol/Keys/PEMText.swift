import Sealing

/// PEM (RFC 7468), as far as private keys need it. Line ends may have become blanks, or be gone.
package enum PEMText {
  private static let labels = ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"]

  /// The DER of the one private key in `text`; what stands before and behind it is left out.
  static func privateKey(in text: Secret) throws(ProtocolError) -> Secret {
    let found: Result<Secret, ProtocolError> = text.withBytes { bytes in
      do throws(ProtocolError) { return .success(try block(in: bytes)) } catch { return .failure(error) }
    }
    return try found.get()
  }

  private static func block(in bytes: UnsafeRawBufferPointer) throws(ProtocolError) -> Secret {
    var content: Range<Int>?
    for label in labels {
      guard let begin = range(of: "-----BEGIN \(label)-----", in: bytes, from: 0) else { continue }
      guard let end = range(of: "-----END \(label)-----", in: bytes, from: begin.upperBound) else {
        throw .clientAuthentication("the key is cut off: it has a BEGIN and no END")
      }
      guard content == nil, range(of: "-----BEGIN \(label)-----", in: bytes, from: end.upperBound) == nil else {
        throw .clientAuthentication("there is more than one private key")
      }
      content = begin.upperBound..<end.lowerBound
    }
    guard let content else { throw .clientAuthentication(reason(bytes)) }
    let body = UnsafeRawBufferPointer(rebasing: bytes[content])
    guard range(of: "ENCRYPTED", in: body, from: 0) == nil else { throw .clientAuthentication(encrypted) }
    var der = WipedBuffer(capacity: body.count)
    var bits: UInt32 = 0
    var count: UInt32 = 0
    var isPadded = false
    for byte in body where ![0x20, 0x09, 0x0A, 0x0D].contains(byte) {
      if byte == UInt8(ascii: "=") {
        isPadded = true
        continue
      }
      guard !isPadded, byte != UInt8(ascii: "-"), byte != UInt8(ascii: "_"), let value = Base64Text.value(of: byte)
      else { throw .clientAuthentication("what stands between BEGIN and END is no base 64") }
      bits = bits << 6 | UInt32(value)
      count += 6
      if count >= 8 {
        count -= 8
        der.append(UInt8(truncatingIfNeeded: bits >> count))
      }
    }
    return der.secret()
  }

  package static let encrypted = "the key is encrypted"

  /// Why the text holds no key.
  private static func reason(_ bytes: UnsafeRawBufferPointer) -> String {
    if range(of: "-----BEGIN ENCRYPTED PRIVATE KEY-----", in: bytes, from: 0) != nil { return encrypted }
    if range(of: "PUBLIC KEY-----", in: bytes, from: 0) != nil {
      return "it is a public key; the private one is needed"
    }
    if range(of: "-----BEGIN CERTIFICATE", in: bytes, from: 0) != nil {
      return "it is a certificate; the private key is needed"
    }
    return "it is neither a private key in PEM nor a JWK"
  }

  private static func range(of text: String, in bytes: UnsafeRawBufferPointer, from start: Int) -> Range<Int>? {
    let wanted = Array(text.utf8)
    var at = start
    while at + wanted.count <= bytes.count {
      if bytes[at] == wanted[0], bytes[at...].starts(with: wanted) { return at..<at + wanted.count }
      at += 1
    }
    return nil
  }
}
