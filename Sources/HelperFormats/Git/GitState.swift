/// What comes back in `state[]` when the server refused a token: which one it was. Never the token.
struct GitState: Sendable, Equatable {
  private static let prefix = "oauthctl:"
  private static let version = "1:"
  private static let fingerprintPrefix = "sha256:"
  private static let digits = 32

  /// `sha256:` and 32 hex digits, nil in a state of another version.
  let fingerprint: String?

  /// The value of `state[]`.
  var text: String {
    Self.prefix + Self.version + (fingerprint.map { String($0.dropFirst(Self.fingerprintPrefix.count)) } ?? "")
  }

  /// Nil when it belongs to another helper.
  init?(_ text: String) {
    guard text.hasPrefix(Self.prefix) else { return nil }
    let rest = text.dropFirst(Self.prefix.count)
    guard rest.hasPrefix(Self.version), Self.isHex(rest.dropFirst(Self.version.count)) else {
      fingerprint = nil
      return
    }
    fingerprint = Self.fingerprintPrefix + rest.dropFirst(Self.version.count)
  }

  /// Nil for what is no fingerprint.
  init?(fingerprint: String) {
    guard fingerprint.hasPrefix(Self.fingerprintPrefix),
      Self.isHex(fingerprint.dropFirst(Self.fingerprintPrefix.count))
    else { return nil }
    self.fingerprint = fingerprint
  }

  private static func isHex(_ text: Substring) -> Bool {
    text.utf8.count == digits
      && text.utf8.allSatisfy {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
      }
  }
}
