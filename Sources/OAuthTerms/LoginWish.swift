/// What may be wished of one login (OpenID Connect Core 1.0 §3.1.2.1), for the options of the command line and for the agent.
package enum LoginWish {
  /// The name or address of a person, bytes: an address has 254 at most (RFC 5321 §4.5.3.1).
  package static let nameBytes = 1...320
  /// `max_age`, seconds: a year at most.
  package static let maximumAgeSeconds = 0...365 * 86_400
  /// What `prompt` may be, in words.
  package static let promptChoice = "none, or one or more of login, consent, select_account"

  private static let pages: Set<String> = ["login", "consent", "select_account"]

  /// Whether `text` is a value of `prompt`: `none` asks for no page, and stands alone.
  package static func isPrompt(_ text: String) -> Bool {
    let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    return words == ["none"] || words.allSatisfy(pages.contains) && Set(words).count == words.count
  }

  /// Whether `text` may be a person's name or address.
  package static func isName(_ text: String) -> Bool {
    nameBytes.contains(text.utf8.count) && !text.utf8.contains { $0 < 0x20 || $0 == 0x7F }
  }
}
