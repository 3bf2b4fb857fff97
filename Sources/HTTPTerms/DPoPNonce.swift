/// A nonce that a server wants to find in the next proof of possession (RFC 9449 §8): foreign text that is sent back to it.
package enum DPoPNonce {
  /// The field in which it comes.
  package static let field = "DPoP-Nonce"
  /// Longest that is taken, bytes. Servers' nonces are a number or an encrypted time, 20 to 500 of them; each proof carries
  /// it.
  package static let limitBytes = 1_024

  /// 1…``limitBytes`` of NQCHAR (RFC 9449 §8.1, RFC 6749 appendix A): nothing that could end a header field or a string.
  package static func isValid(_ text: String) -> Bool {
    (1...limitBytes).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
  }

  /// The one among all values of the field in an answer; nil where there is none, or not one alone that is valid.
  package static func given(by values: [String]) -> String? {
    guard let first = values.first, values.allSatisfy({ $0 == first }), isValid(first) else { return nil }
    return first
  }
}
