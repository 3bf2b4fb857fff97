/// Whose account it is, in words. Nothing is decided by a name but what a person has asked for.
extension IDToken {
  /// What fits on a line beside the words about it.
  private static let limitCharacters = 100

  /// What people know themselves by, best first; `sub` is mostly a number. Fit to be shown, and freed of `secrets`; nil
  /// where it does not say.
  package func shownName(hiding secrets: [RequestSecrets]) -> String? {
    [preferredUsername, email, name].lazy.compactMap(\.self).compactMap { Self.shown($0, secrets) }.first
  }

  /// `sub`, fit to be shown.
  package func shownSubject(hiding secrets: [RequestSecrets]) -> String? { Self.shown(subject, secrets) }

  private static func shown(_ text: String, _ secrets: [RequestSecrets]) -> String? {
    let freed = secrets.reduce(text) { $1.cut(from: $0) }
    let shown = Escaped.forTerminal(freed, limit: limitCharacters)
    return ["", "…"].contains(shown) ? nil : shown
  }

  /// Whether its person is `expected`: by `sub`, by `preferred_username`, or by an address that the server does not call
  /// unverified. Addresses do not differ by case.
  package func isOf(_ expected: String) -> Bool {
    subject == expected || preferredUsername == expected
      || isEmailVerified && email?.lowercased() == expected.lowercased()
  }

  /// What a refresh's token may not differ from (§12.2).
  package var nonceBefore: IDTokenExpectation.Nonce { .same(as: nonce) }
}
