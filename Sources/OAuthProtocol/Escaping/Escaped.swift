/// Foreign text made fit to show.
package enum Escaped {
  /// `text` with everything that a terminal, a log or git could act on, or a person could not see, shown as an escape:
  /// C0, C1, DEL, bidirectional and zero-width characters, odd blanks, line separators, tags, unassigned and private
  /// code points; a backslash is doubled, so that the result is unambiguous. At most `limit` characters, the last one
  /// an ellipsis when something was cut.
  package static func forTerminal(_ text: some StringProtocol, limit: Int = 200) -> String {
    var pieces: [String] = []
    var length = 0
    for scalar in text.unicodeScalars {
      let piece = needsEscape(scalar) ? escape(scalar) : String(scalar)
      pieces.append(piece)
      length += piece.unicodeScalars.count
      if length > limit { break }
    }
    guard length > limit else { return pieces.joined() }
    // Whole escapes go, never a part of one: half an escape would read as something else.
    while length > limit - 1, let last = pieces.popLast() { length -= last.unicodeScalars.count }
    return limit > 0 ? pieces.joined() + "…" : ""
  }

  private static func escape(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\\": "\\\\"
    case "\n": "\\n"
    case "\r": "\\r"
    case "\t": "\\t"
    default: "\\u{\(String(scalar.value, radix: 16))}"
    }
  }

  private static func needsEscape(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F || scalar == "\\" }
    let properties = scalar.properties
    if properties.isDefaultIgnorableCodePoint || properties.isBidiControl { return true }
    switch properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator,
      .spaceSeparator:
      return true
    default:
      return false
    }
  }
}
