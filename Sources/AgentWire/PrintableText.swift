/// Makes text of others fit for a terminal, a log or a line of a helper protocol.
package enum PrintableText {
  /// Shows controls (C0, C1, DEL), bidirectional and zero-width characters, odd blanks and letters that look like one, accents
  /// without a letter or more than four on one, line separators, private and unassigned code points as `\u{…}`, and cuts
  /// after `limit` characters, with `…`.
  package static func escaped(_ text: String, limit: Int = 300) -> String {
    var result = ""
    var count = 0
    // More would run into the rows above and below; no language puts more than these on one letter.
    let mostMarks = 4
    var marksLeft = 0
    for scalar in text.unicodeScalars {
      if count == limit {
        result += "…"
        break
      }
      count += 1
      if isPrintable(scalar), marksLeft > 0 || !isMark(scalar) {
        result.unicodeScalars.append(scalar)
        marksLeft = isMark(scalar) ? marksLeft - 1 : scalar == " " ? 0 : mostMarks
      } else {
        result += escape(scalar)
        marksLeft = 0
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
    // Symbols and letters by their category, blanks to the eye: a pattern of Braille, a head of a note, two Egyptian signs.
    if ["\u{2800}", "\u{1D159}", "\u{13441}", "\u{13442}"].contains(scalar) { return false }
    switch scalar.properties.generalCategory {
    case .spaceSeparator, .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
      return false
    default: return !scalar.properties.isDefaultIgnorableCodePoint
    }
  }
}
