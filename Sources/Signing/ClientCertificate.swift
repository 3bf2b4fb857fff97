import CSigning
package import Sealing

/// The certificate by which a client's key is known where it connects (RFC 8705), and those that lead from it to an
/// authority. It is public; what proves the client is the key.
package struct ClientCertificate: Sendable, Equatable {
  /// DER, that of the key first: 1…``most``, ``limitBytes`` in all.
  package let chain: [[UInt8]]
  /// When the first one ends, Unix seconds.
  package let ends: Int64

  /// A chain of two authorities between is long.
  package static let most = 5
  /// Bytes: each of five for RSA with 4096 bits has 2 KiB.
  package static let limitBytes = 12 << 10
  /// Years for which one that is made here is good: a server knows it by its bytes, and the next one has to be registered.
  private static let lifeYears: Int64 = 10

  /// Throws where it is not one of `key`.
  package init(chain: [[UInt8]], of key: SigningKey) throws(SigningError) {
    guard (1...Self.most).contains(chain.count), chain.reduce(0, { $0 + $1.count }) <= Self.limitBytes else {
      throw .noKey(
        "it comes with more than \(Self.most) certificates, or with more than \(Self.limitBytes) bytes of them")
    }
    var ends: Int64 = 0
    for (place, certificate) in chain.enumerated() {
      let end = try Self.end(of: certificate, key: place == 0 ? key : nil)
      if place == 0 { ends = end }
    }
    self.chain = chain
    self.ends = ends
  }

  /// One that `key` signs itself. `name`: 1 to 64 bytes. `now`: Unix seconds.
  package init(
    selfSignedBy key: SigningKey, name: String, now: Int64, random: any RandomSource
  ) throws(SigningError) {
    // The highest bit is a sign (RFC 5280 §4.1.2.2).
    let serial = random.bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } >> 1 | 1
    let begins = now - 86_400  // A server's clock may be behind.
    let ends = now + Self.lifeYears * 365 * 86_400
    var result: Int32 = 0
    let certificate = [UInt8](unsafeUninitializedCapacity: SigningKey.limitBytes) { certificate, filled in
      key.pkcs8.withBytes { der in
        result = csigning_certify(
          der.bindMemory(to: UInt8.self).baseAddress, der.count, name, serial, begins, ends, certificate.baseAddress,
          &filled)
      }
      if result != 0 { filled = 0 }
    }
    if let error = SigningError(result) { throw error }
    chain = [certificate]
    self.ends = ends
  }

  private static func end(of certificate: [UInt8], key: SigningKey?) throws(SigningError) -> Int64 {
    var ends: Int64 = 0
    let result =
      key?.pkcs8.withBytes { der in
        csigning_read_certificate(
          certificate, certificate.count, der.bindMemory(to: UInt8.self).baseAddress, der.count, &ends)
      } ?? csigning_read_certificate(certificate, certificate.count, nil, 0, &ends)
    if let error = SigningError(result) { throw error }
    return ends
  }
}
