/// What comes back in `state[]` when the server refused a token: which one it was, and whose. Never the token.
struct GitState: Sendable, Equatable {
  private static let prefix = "oauthctl:"
  private static let version = "oauthctl:2:"
  private static let fingerprintPrefix = "sha256:"

  /// Of the fingerprint; nil in a state of another version.
  private let digits: String?
  /// The account's name.
  let account: String?
  /// git was not told to ask once more after this token.
  let isLast: Bool

  /// `sha256:` and 32 hex digits, nil in a state of another version.
  var fingerprint: String? { digits.map { Self.fingerprintPrefix + $0 } }

  /// The value of `state[]`.
  var text: String { Self.version + (isLast ? "last:" : "first:") + (digits ?? "") + ":" + (account ?? "") }

  /// Nil when it belongs to another helper.
  init?(_ text: String) {
    guard text.hasPrefix(Self.prefix) else { return nil }
    let parts = text.dropFirst(Self.version.utf8.count).split(separator: ":", omittingEmptySubsequences: false)
    guard text.hasPrefix(Self.version), parts.count == 3, parts[0] == "first" || parts[0] == "last",
      let digits = Self.hex(parts[1])
    else {
      (self.digits, account, isLast) = (nil, nil, false)
      return
    }
    self.digits = digits
    isLast = parts[0] == "last"
    account = parts[2].isEmpty ? nil : String(parts[2])
  }

  /// Nil for what is no fingerprint, or for an account that no such line can carry.
  init?(fingerprint: String, account: String?, isLast: Bool) {
    guard fingerprint.hasPrefix(Self.fingerprintPrefix),
      let digits = Self.hex(fingerprint.dropFirst(Self.fingerprintPrefix.utf8.count)),
      account?.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ":") }) != false
    else { return nil }
    self.digits = digits
    self.account = account
    self.isLast = isLast
  }

  private static func hex(_ text: Substring) -> String? {
    let isHex = text.utf8.allSatisfy {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
    }
    return text.utf8.count == 32 && isHex ? String(text) : nil
  }
}
