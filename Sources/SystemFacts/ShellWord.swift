/// A word in a command that a person is to type, a path for instance.
package enum ShellWord {
  /// `word` as a shell reads it, byte by byte: an accent after a quotation mark does not hide it. One with control characters
  /// is written as bash, zsh and ksh read it, and POSIX.1-2024 has it (`$'…'`): a line's end in it would begin a line of its
  /// own where it is shown.
  package static func quoted(_ word: String) -> String {
    // zsh reads `=ls` as the path of ls.
    let isPlain =
      !word.isEmpty && word.utf8.first != UInt8(ascii: "=")
      && word.utf8.allSatisfy {
        switch $0 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "/._-+@%,=:".utf8.contains($0)
        }
      }
    if isPlain { return word }
    if word.utf8.contains(where: isControl) {
      return "$'" + word.unicodeScalars.map(escaped).joined() + "'"
    }
    let parts = word.utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
    return "'" + parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "'\\''") + "'"
  }

  private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F }

  /// Three octal digits, so that a digit behind it is no part of it.
  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "'", "\\": return "\\\(scalar)"
    default:
      guard scalar.isASCII, isControl(UInt8(scalar.value)) else { return String(scalar) }
      let digits = String(scalar.value, radix: 8)
      return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
    }
  }
}
