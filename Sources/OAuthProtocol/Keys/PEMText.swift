import Sealing

/// PEM (RFC 7468), as far as private keys need it. Line ends may have become blanks, or be gone.
package enum PEMText {
  private static let labels = ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"]
  private static let certificate = "CERTIFICATE"
  private static let lineDigits = 64

  /// The DER of the one private key in `text`; what stands before and behind it is left out.
  static func privateKey(in text: Secret) throws(ProtocolError) -> Secret {
    let found: Result<Secret, ProtocolError> = text.withBytes { bytes in
      do throws(ProtocolError) { return .success(try block(in: bytes)) } catch { return .failure(error) }
    }
    return try found.get()
  }

  /// Whether there are certificates in `text`, and no private key.
  static func holdsCertificatesAlone(_ text: Secret) -> Bool {
    text.withBytes { bytes in
      range(of: opening(certificate), in: bytes, from: 0) != nil
        && range(of: "PRIVATE KEY-----", in: bytes, from: 0) == nil
    }
  }

  /// The DER of every certificate in `text`, in its order.
  static func certificates(in text: Secret) throws(ProtocolError) -> [[UInt8]] {
    let found: Result<[[UInt8]], ProtocolError> = text.withBytes { bytes in
      do throws(ProtocolError) {
        var certificates: [[UInt8]] = []
        var at = 0
        while let begin = range(of: opening(certificate), in: bytes, from: at) {
          guard let end = range(of: "-----END \(certificate)-----", in: bytes, from: begin.upperBound) else {
            throw .clientAuthentication("the certificate is cut off: it has a BEGIN and no END")
          }
          let body = UnsafeRawBufferPointer(rebasing: bytes[begin.upperBound..<end.lowerBound])
          certificates.append(try decoded(body).withBytes { Array($0) })
          at = end.upperBound
        }
        return .success(certificates)
      } catch { return .failure(error) }
    }
    return try found.get()
  }

  /// One text with the private key, PKCS #8, and the certificates, DER, as TLS libraries take it.
  static func text(key: Secret, certificates: [[UInt8]]) -> Secret {
    let blocks = certificates.map { (certificate, Secret($0)) } + [(labels[0], key)]
    // Both lines of the longest label are 54 bytes, their ends among them; a line's end for each line of digits.
    let room = blocks.reduce(0) { $0 + 64 + ($1.1.count + 2) / 3 * 4 * (lineDigits + 1) / lineDigits }
    var buffer = WipedBuffer(capacity: room)
    for (label, der) in blocks {
      buffer.append(contentsOf: (opening(label) + "\n").utf8)
      der.withBytes { bytes in
        let bytesInLine = lineDigits / 4 * 3
        for start in stride(from: 0, to: bytes.count, by: bytesInLine) {
          let line = bytes[start..<min(start + bytesInLine, bytes.count)]
          Base64Text.encode(UnsafeRawBufferPointer(rebasing: line), into: &buffer)
          buffer.append(UInt8(ascii: "\n"))
        }
      }
      buffer.append(contentsOf: "-----END \(label)-----\n".utf8)
    }
    return buffer.secret()
  }

  private static func opening(_ label: String) -> String { "-----BEGIN \(label)-----" }

  private static func block(in bytes: UnsafeRawBufferPointer) throws(ProtocolError) -> Secret {
    var content: Range<Int>?
    for label in labels {
      guard let begin = range(of: opening(label), in: bytes, from: 0) else { continue }
      guard let end = range(of: "-----END \(label)-----", in: bytes, from: begin.upperBound) else {
        throw .clientAuthentication("the key is cut off: it has a BEGIN and no END")
      }
      guard content == nil, range(of: opening(label), in: bytes, from: end.upperBound) == nil else {
        throw .clientAuthentication("there is more than one private key")
      }
      content = begin.upperBound..<end.lowerBound
    }
    guard let content else { throw .clientAuthentication(reason(bytes)) }
    let body = UnsafeRawBufferPointer(rebasing: bytes[content])
    guard range(of: "ENCRYPTED", in: body, from: 0) == nil else { throw .clientAuthentication(encrypted) }
    return try decoded(body)
  }

  private static func decoded(_ body: UnsafeRawBufferPointer) throws(ProtocolError) -> Secret {
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
