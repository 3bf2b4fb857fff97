/// Scope (RFC 6749 §3.3) as servers really write it.
package enum ScopeList {
  /// More scopes than any server has, and few enough to be kept with every login.
  package static let limit = 256

  /// 1…1024 bytes of %x21 / %x23-5B / %x5D-7E.
  package static func isToken(_ text: String) -> Bool {
    (1...1_024).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
  }

  /// Scope tokens of a server's text: separated by blanks, or by commas where there is no blank (GitHub), or by both.
  /// What is no scope token is left out; at most ``limit`` are kept, each once.
  package static func parse(_ text: String) -> [String] {
    let byBlanks = text.split(separator: " ")
    let pieces =
      byBlanks.count > 1
      ? byBlanks.map { $0.hasSuffix(",") ? $0.dropLast() : $0 } : text.split(whereSeparator: { $0 == "," || $0 == " " })
    return kept(pieces.map(String.init))
  }

  /// What is kept of a server's scopes.
  static func kept(_ tokens: [String]) -> [String] { Array(unique(tokens).prefix(limit)) }

  /// Each scope token once, in order.
  static func unique(_ tokens: [String]) -> [String] {
    var seen: Set<String> = []
    return tokens.filter { isToken($0) && seen.insert($0).inserted }
  }
}
