import AgentWire

extension PrintableText {
  /// Whether a character is shown as it is: the one rule of `escaped`, for a single character.
  static func isShownAsIs(_ scalar: Unicode.Scalar) -> Bool {
    let text = String(scalar)
    return escaped(text) == text
  }
}

extension PrintableText {
  /// Blanks in a row that a person still sees as what they are: this program puts three before a remark behind a command.
  static let mostBlanks = 3

  /// `text` with the blanks that are more than ``mostBlanks`` in a row as `\u{20}`. Those at the beginning set a line in and
  /// count to 8.
  static func withShownBlanks(_ text: String) -> String {
    var result = ""
    var count = 0
    var isBeginning = true
    for scalar in text.unicodeScalars {
      count = scalar == " " ? count + 1 : 0
      isBeginning = isBeginning && scalar == " "
      if count > (isBeginning ? 8 : mostBlanks) {
        result += escape(scalar)
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

extension NextStep {
  /// As a terminal shows it, whole: what is cut off cannot be typed.
  var shown: String { PrintableText.escaped(line, limit: 4_096) }
}
