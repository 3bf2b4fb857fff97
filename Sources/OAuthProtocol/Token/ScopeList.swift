/// Scope (RFC 6749 §3.3) as servers really write it.
package enum ScopeList {
  /// 1…1024 bytes of %x21 / %x23-5B / %x5D-7E.
  package static func isToken(_ text: String) -> Bool {
    (1...1_024).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
  }

  /// Scope tokens of a server's text: separated by blanks, or by commas where there is no blank (GitHub), or by both.
  /// What is no scope token is left out; at most 256 are kept, each once.
  package static func parse(_ text: String) -> [String] {
    let byBlanks = text.split(separator: " ")
    let pieces =
      byBlanks.count > 1
      ? byBlanks.map { $0.hasSuffix(",") ? $0.dropLast() : $0 } : text.split(whereSeparator: { $0 == "," || $0 == " " })
    return unique(pieces.map(String.init))
  }

  static func unique(_ tokens: [String]) -> [String] {
    var seen: Set<String> = []
    var kept: [String] = []
    for token in tokens where kept.count < 256 && isToken(token) && seen.insert(token).inserted { kept.append(token) }
    return kept
  }
}
