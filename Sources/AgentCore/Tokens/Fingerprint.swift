package import Sealing

/// Names an access token without telling it: `sha256:` and the first 32 hex digits of its SHA-256.
package struct Fingerprint: Hashable, Sendable, CustomStringConvertible {
  package let description: String

  package init(of token: Secret) {
    description = "sha256:" + Hex.encode(Digest.sha256(token).prefix(16))
  }

  /// Nil unless `text` has the form of a fingerprint.
  package init?(_ text: String) {
    let digits = text.utf8.dropFirst(7)
    guard text.hasPrefix("sha256:"), digits.count == 32,
      digits.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) })
    else { return nil }
    description = text
  }
}
