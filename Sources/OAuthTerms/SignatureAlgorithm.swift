/// How a client's private key signs, by the names of RFC 7518 §3.1 and RFC 8037 §3.1: the one list, for `key create
/// --algorithm` and for what is signed.
package enum SignatureAlgorithm: String, Sendable, Codable, CaseIterable {
  case es256 = "ES256"
  case es384 = "ES384"
  case edDSA = "EdDSA"
  case rs256 = "RS256"
  case ps256 = "PS256"

  /// What a new key is made for that names none: every server that takes signed assertions knows it or RS256, and this key
  /// is the smaller.
  package static let standard = SignatureAlgorithm.es256
}

extension SignatureAlgorithm: TypedName {
  package var typedNames: [String] { [rawValue.lowercased()] }
}
