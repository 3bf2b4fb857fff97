/// What comes back in `state[]` when the server refused a token: which one it was. Never the token.
struct GitState: Sendable, Equatable {
  private static let prefix = "oauthctl:"
  private static let version = "oauthctl:1:"
  private static let fingerprintPrefix = "sha256:"

  /// Of the fingerprint; nil in a state of another version.
  private let digits: String?

  /// `sha256:` and 32 hex digits, nil in a state of another version.
  var fingerprint: String? { digits.map { Self.fingerprintPrefix + $0 } }

  /// The value of `state[]`.
  var text: String { Self.version + (digits ?? "") }

  /// Nil when it belongs to another helper.
  init?(_ text: String) {
    guard text.hasPrefix(Self.prefix) else { return nil }
    digits = Self.digits(of: text, after: Self.version)
  }

  /// Nil for what is no fingerprint.
  init?(fingerprint: String) {
    guard let digits = Self.digits(of: fingerprint, after: Self.fingerprintPrefix) else { return nil }
    self.digits = digits
  }

  private static func digits(of text: String, after prefix: String) -> String? {
    let digits = text.utf8.dropFirst(prefix.utf8.count)
    guard text.hasPrefix(prefix), digits.count == 32 else { return nil }
    let isHex = digits.allSatisfy {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
    }
    return isHex ? String(decoding: digits, as: UTF8.self) : nil
  }
}
