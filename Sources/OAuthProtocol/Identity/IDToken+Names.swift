/// Whose account it is, in words. Nothing is decided by a name but what a person has asked for.
extension IDToken {
  /// What fits on a line beside the words about it.
  private static let limitCharacters = 100
  /// As long as a `sub` may be (§2): of two that differ, nothing that differs is cut.
  private static let subjectCharacters = 255

  /// What people know themselves by, best first; `sub` is mostly a number. What anybody may call himself comes last, marked:
  /// an address that the server calls unverified, and `name`. Fit to be shown, and freed of `secrets`; nil where it does not
  /// say.
  package func shownName(hiding secrets: RequestSecrets) -> String? {
    let known = [preferredUsername, isEmailVerified ? email : nil]
    let chosen = [email, name]
    func first(_ names: [String?]) -> String? {
      names.lazy.compactMap(\.self).compactMap { Self.shown($0, secrets, limit: Self.limitCharacters) }.first
    }
    return first(known) ?? first(chosen).map { $0 + " (not verified)" }
  }

  /// `sub`, fit to be shown.
  package func shownSubject(hiding secrets: RequestSecrets) -> String? {
    Self.shown(subject, secrets, limit: Self.subjectCharacters)
  }

  private static func shown(_ text: String, _ secrets: RequestSecrets, limit: Int) -> String? {
    let shown = Escaped.forTerminal(secrets.cut(from: text), limit: limit)
    return ["", "…"].contains(shown) ? nil : shown
  }

  /// Whether its person is `expected`: by `sub`, by `preferred_username`, or by an address that the server does not call
  /// unverified. Addresses do not differ by the case of ASCII letters. Byte by byte, as a server tells people apart: é can be
  /// written in two ways.
  package func isOf(_ expected: String) -> Bool {
    func small(_ text: String) -> [UInt8] { text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } }
    return [subject, preferredUsername].contains { $0?.utf8.elementsEqual(expected.utf8) == true }
      || isEmailVerified && email.map(small) == small(expected)
  }

  /// What a refresh's token may not differ from (§12.2).
  package var nonceBefore: IDTokenExpectation.Nonce { .same(as: nonce) }
}
