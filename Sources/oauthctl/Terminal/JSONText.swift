import AgentWire
import FoundationEssentials

/// Answers as JSON for programs: sorted keys, so that two runs can be compared.
enum JSONText {
  static func pretty<T: Encodable>(_ value: T) -> String {
    text(value, [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
  }

  static func line<T: Encodable>(_ value: T) -> String { text(value, [.sortedKeys, .withoutEscapingSlashes]) }

  private static func text<T: Encodable>(_ value: T, _ formatting: JSONEncoder.OutputFormatting) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = formatting
    guard let data = try? encoder.encode(value) else { return "{}" }
    // Escaped as \uXXXX inside JSON strings: JSON may be looked at on a terminal too.
    return String(decoding: data, as: UTF8.self).unicodeScalars.reduce(into: "") { text, scalar in
      if scalar == "\n" || PrintableText.isShownAsIs(scalar) {
        text.unicodeScalars.append(scalar)
      } else {
        for unit in String(scalar).utf16 {
          let digits = String(unit, radix: 16)
          text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
      }
    }
  }
}
