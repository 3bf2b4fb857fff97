import AgentWire

/// A failure as JSON, for whoever asked for JSON: `{"error":{"exit":4,"failure":"login_required","message":…,"hint":…}}`.
struct FailureText: Encodable {
  struct Members: Encodable {
    var exit: Int32
    /// The agent's word for it; nil: it is a failure on this side.
    var failure: String?
    var message: String
    var hint: String?
    /// `command` where `hint` is one.
    var hintKind: String?

    enum CodingKeys: String, CodingKey {
      case exit, failure, message, hint
      case hintKind = "hint_kind"
    }
  }

  var error: Members

  init(_ error: CommandError) {
    var failure: String?
    if case .agent(let found, _) = error { failure = found.kind.rawValue }
    self.error = Members(
      exit: error.status, failure: failure, message: error.sentence ?? "", hint: error.nextStep?.text,
      hintKind: error.nextStep?.kind)
  }

  /// Whether `words`, a command line without the program's name, ask for JSON. What stands behind `curl` is curl's.
  static func isAskedFor(_ words: [String]) -> Bool {
    guard words.first != "curl" else { return false }
    return words.contains("--json") || words.contains("--format=json")
      || zip(words, words.dropFirst()).contains { $0 == "--format" && $1 == "json" }
  }
}
