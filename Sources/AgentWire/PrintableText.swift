/// Makes text of others fit for a terminal, a log or a line of a helper protocol.
package enum PrintableText {
  /// Shows controls (C0, C1, DEL), bidirectional and zero-width characters, line separators, private and unassigned code
  /// points as `\u{…}`, and cuts after `limit` characters, with `…`.
  package static func escaped(_ text: String, limit: Int = 300) -> String {
    var result = ""
    var count = 0
    for scalar in text.unicodeScalars {
      if count == limit {
        result += "…"
        break
      }
      count += 1
      if isPrintable(scalar) {
        result.unicodeScalars.append(scalar)
      } else {
        result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      }
    }
    return result
  }

  private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return (0x20..<0x7F).contains(scalar.value) }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return false
    default: return !scalar.properties.isDefaultIgnorableCodePoint
    }
  }
}
