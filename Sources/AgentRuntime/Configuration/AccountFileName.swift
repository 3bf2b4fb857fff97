/// The names that an account, and so its file, may have.
enum AccountFileName {
  static let rule =
    "the file's name is no account name: a letter a-z or a digit, then up to 62 of a-z 0-9 . _ - (and .toml)"

  /// `[a-z0-9][a-z0-9._-]{0,62}`.
  static func isAccountName(_ name: String) -> Bool {
    guard (1...63).contains(name.utf8.count), let first = name.utf8.first, isLetterOrDigit(first) else { return false }
    return name.utf8.allSatisfy {
      isLetterOrDigit($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
    }
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
