import CSigning
package import OAuthTerms
import Sealing

/// The public half of a key, which servers may know (RFC 7517, RFC 7518 §6, RFC 8037 §2).
package struct PublicKey: Sendable, Equatable {
  package enum Kind: Sendable { case p256, p384, ed25519, rsa }

  package let kind: Kind
  /// EC: x and y. RSA: n and e. Ed25519: x, and nothing.
  package let first: [UInt8]
  package let second: [UInt8]

  package init(_ kind: Kind, _ first: [UInt8], _ second: [UInt8] = []) {
    self.kind = kind
    self.first = first
    self.second = second
  }

  init(_ found: csigning_public) {
    kind =
      switch csigning_kind(rawValue: UInt32(bitPattern: found.kind)) {
      case CSIGNING_P256: .p256
      case CSIGNING_P384: .p384
      case CSIGNING_ED25519: .ed25519
      default: .rsa
      }
    first = withUnsafeBytes(of: found.first) { Array($0.prefix(found.first_bytes)) }
    second = withUnsafeBytes(of: found.second) { Array($0.prefix(found.second_bytes)) }
  }

  /// What such a key may sign by, the usual one first.
  package var algorithms: [SignatureAlgorithm] {
    switch kind {
    case .p256: [.es256]
    case .p384: [.es384]
    case .ed25519: [.edDSA]
    case .rsa: [.rs256, .ps256]
    }
  }

  /// The members that make the key, in the order of their names.
  private var members: [(String, String)] {
    let (first, second) = (Base64URL.encode(first), Base64URL.encode(second))
    return switch kind {
    case .p256: [("crv", "P-256"), ("kty", "EC"), ("x", first), ("y", second)]
    case .p384: [("crv", "P-384"), ("kty", "EC"), ("x", first), ("y", second)]
    case .ed25519: [("crv", "Ed25519"), ("kty", "OKP"), ("x", first)]
    case .rsa: [("e", second), ("kty", "RSA"), ("n", first)]
    }
  }

  /// SHA-256, base64url (RFC 7638 §3).
  package var thumbprint: String { Base64URL.encode(Digest.sha256(Array(bareJWK.utf8))) }

  /// The members that make the key and no others, in the order in which they are digested (RFC 7638 §3.2).
  package var bareJWK: String { Self.object(members) }

  /// One JSON object, as a server's registration takes it. `keyID` is as ``ClientKey`` checks it. `certificates`: DER, of
  /// this key first (`x5c`, RFC 7517 §4.7).
  package func jwk(_ algorithm: SignatureAlgorithm, keyID: String, certificates: [[UInt8]] = []) -> String {
    let object = Self.object(members + [("alg", algorithm.rawValue), ("kid", keyID), ("use", "sig")])
    guard !certificates.isEmpty else { return object }
    let list = certificates.map { "\"\(Base64URL.padded($0))\"" }.joined(separator: ",")
    return object.dropLast() + ",\"x5c\":[\(list)]}"
  }

  /// None of the values needs an escape.
  private static func object(_ members: [(String, String)]) -> String {
    "{" + members.map { "\"\($0.0)\":\"\($0.1)\"" }.joined(separator: ",") + "}"
  }
}
