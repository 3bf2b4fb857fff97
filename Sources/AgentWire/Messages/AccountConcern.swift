/// Something that a login may fail for.
package struct AccountConcern: Codable, Sendable, Equatable {
  /// ``check`` of what the redirect on https proves itself with.
  package static let redirect = "redirect"

  /// What it is about, for programs: `server`, `client`, `scope` or `redirect`.
  package var check: String
  /// One line for people.
  package var message: String
  package var hint: String
  /// `command` where `hint` is one.
  package var hintKind: String?
  /// True: no login can succeed.
  package var isBlocking: Bool?

  package init(check: String, message: String, hint: NextStep, isBlocking: Bool? = nil) {
    self.check = check
    self.message = message
    self.hint = hint.text
    hintKind = hint.kind
    self.isBlocking = isBlocking
  }

  package enum CodingKeys: String, CodingKey {
    case check, message, hint
    case hintKind = "hint_kind"
    case isBlocking = "blocking"
  }
}
