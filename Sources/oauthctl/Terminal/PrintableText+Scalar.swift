import AgentWire

extension PrintableText {
  /// Whether a character is shown as it is: the one rule of `escaped`, for a single character.
  static func isShownAsIs(_ scalar: Unicode.Scalar) -> Bool {
    let text = String(scalar)
    return escaped(text) == text
  }
}
