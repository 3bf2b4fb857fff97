package import OAuthTerms
package import Sealing

/// A client's private key with what signatures by it are named by; and the one line as which the vault keeps it.
package struct ClientKey: Sendable {
  package let key: SigningKey
  package let algorithm: SignatureAlgorithm
  /// `kid`: 1…128 printable ASCII characters without blank, quote and backslash.
  package let keyID: String
  /// What the client shows where it connects; nil: nothing.
  package private(set) var certificate: ClientCertificate?

  private static let mark = "private-key-1"

  /// A new one, named by its thumbprint (RFC 7638).
  package init(newFor algorithm: SignatureAlgorithm) throws(SigningError) {
    key = try SigningKey(for: algorithm)
    self.algorithm = algorithm
    keyID = key.publicKey.thumbprint
  }

  /// A key that was given, with the algorithm and the name that came with it. Throws where they do not fit.
  package init(der: Secret, algorithm named: String? = nil, keyID: String? = nil) throws(SigningError) {
    try self.init(der: der, named, keyID, isForeign: true)
  }

  private init(der: Secret, _ named: String?, _ keyID: String?, isForeign: Bool) throws(SigningError) {
    key = try SigningKey(der: der, isForeign: isForeign)
    if let named {
      guard let known = SignatureAlgorithm(rawValue: named), key.publicKey.algorithms.contains(known) else {
        throw .noKey("its alg is none that this key and this program can do")
      }
      algorithm = known
    } else {
      algorithm = key.publicKey.algorithms[0]
    }
    if let keyID, !Self.isKeyID(keyID) {
      throw .noKey("its kid is not 1 to 128 printable ASCII characters without blank, quote and backslash")
    }
    self.keyID = keyID ?? key.publicKey.thumbprint
  }

  /// What ``stored`` was.
  package init(stored: Secret) throws(SigningError) {
    let words = stored.reveal().split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard words.count >= 4, words[0] == Self.mark, let der = Base64URL.decode(words[3]) else {
      throw .noKey("what is kept is no private key")
    }
    try self.init(der: Secret(der), words[1], words[2], isForeign: false)
    let chain = words[4...].compactMap(Base64URL.decode)
    guard chain.count == words.count - 4 else { throw .noKey("what is kept is no certificate") }
    if !chain.isEmpty { certificate = try ClientCertificate(chain: chain, of: key) }
  }

  /// The same key, shown by `certificate`.
  package func with(_ certificate: ClientCertificate) -> ClientKey {
    var key = self
    key.certificate = certificate
    return key
  }

  /// Whether `secret` is what the vault keeps of a key.
  package static func isStored(_ secret: Secret) -> Bool {
    secret.withBytes { $0.starts(with: (mark + " ").utf8) }
  }

  /// Whether a certificate is kept with `secret`, which is what the vault keeps of a key.
  package static func hasCertificate(_ secret: Secret) -> Bool {
    secret.withBytes { $0.count { $0 == UInt8(ascii: " ") } } > 3
  }

  /// For the vault alone.
  package var stored: Secret {
    let der = key.pkcs8.withBytes { Base64URL.encode($0) }
    let chain = certificate?.chain.map { Base64URL.encode($0) } ?? []
    return Secret(([Self.mark, algorithm.rawValue, keyID, der] + chain).joined(separator: " "))
  }

  /// What is registered at a server.
  package var publicJWK: String { key.publicKey.jwk(algorithm, keyID: keyID, certificates: certificate?.chain ?? []) }

  package func signature(of message: [UInt8]) throws(SigningError) -> [UInt8] {
    try key.signature(of: message, algorithm)
  }

  private static func isKeyID(_ text: String) -> Bool {
    (1...128).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
      }
  }
}
