/// Makes text of others fit for a terminal, a log or a line of a helper protocol.
package enum PrintableText {
  /// Shows controls (C0, C1, DEL), bidirectional and zero-width characters, odd blanks, accents without a letter, line
  /// separators, private and unassigned code points as `\u{…}`, and cuts after `limit` characters, with `…`.
  package static func escaped(_ text: String, limit: Int = 300) -> String {
    var result = ""
    var count = 0
    var isBehindLetter = false
    for scalar in text.unicodeScalars {
      if count == limit {
        result += "…"
        break
      }
      count += 1
      if isPrintable(scalar), isBehindLetter || !isMark(scalar) {
        result.unicodeScalars.append(scalar)
        isBehindLetter = scalar != " "
      } else {
        result += escape(scalar)
        isBehindLetter = false
      }
    }
    return result
  }

  package static func escape(_ scalar: Unicode.Scalar) -> String {
    "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return false }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: return true
    default: return false
    }
  }

  private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return (0x20..<0x7F).contains(scalar.value) }
    // An empty pattern of Braille: a symbol by its category, a blank to the eye.
    if scalar == "\u{2800}" { return false }
    switch scalar.properties.generalCategory {
    case .spaceSeparator, .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
      return false
    default: return !scalar.properties.isDefaultIgnorableCodePoint
    }
  }
}
