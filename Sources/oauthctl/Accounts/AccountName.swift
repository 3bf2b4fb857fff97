import AgentWire

/// Account names: `[a-z0-9][a-z0-9._-]{0,62}`. They are file names too, so nothing else is ever let through.
enum AccountName {
  /// Bytes of the longest name: as long as a label of a host name (RFC 1035 §2.3.4), which names are often made from.
  static let longest = 63

  static func isValid(_ name: String) -> Bool {
    let bytes = Array(name.utf8)
    guard (1...longest).contains(bytes.count), let first = bytes.first, isLetterOrDigit(first) else { return false }
    return bytes.allSatisfy {
      isLetterOrDigit($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
    }
  }

  /// - Throws: `CommandError.usage` for another name.
  static func check(_ name: String) throws(CommandError) {
    guard isValid(name) else {
      throw .usage(rule(name), next: .run("oauthctl account list   # shows those that there are"))
    }
  }

  static func rule(_ name: String) -> String {
    "\(name): an account name is a letter a-z or digit, then up to 62 of a-z 0-9 . _ -"
  }

  /// A name that may be one, like `name`; nil: nothing is left of it.
  static func like(_ name: String) -> String? {
    let parts = name.lowercased().split { !isValid(String($0)) && !"._-".contains($0) }
    let text = String(parts.joined(separator: "-").drop { "._-".contains($0) }.prefix(longest))
    return isValid(text) ? text : nil
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
