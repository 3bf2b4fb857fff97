import AgentWire
import SystemFacts

/// Which of an account's tokens is meant: there is one for each set of scopes, resources and audiences. Empty: the one of
/// the login itself.
struct TokenSelection: Sendable, Equatable {
  /// Values of RFC 6749 §3.3; several may stand in one, with blanks between them.
  var scope: [String] = []
  /// URLs (RFC 8707).
  var resource: [String] = []
  var audience: [String] = []

  var isEmpty: Bool { scope.isEmpty && resource.isEmpty && audience.isEmpty }

  /// The scope values, each once.
  var scopes: [String] { NewAccount.scopes(scope) }

  func apply(to request: inout TokenGet) {
    request.scope = scopes.isEmpty ? nil : scopes
    request.resource = resource.isEmpty ? nil : resource
    request.audience = audience.isEmpty ? nil : audience
  }

  /// - Throws: `CommandError.usage` for an option without a value: the whole token would be asked for.
  func check() throws(CommandError) {
    for (flag, values) in [("--scope", scope), ("--resource", resource), ("--audience", audience)] {
      try OptionValues.check(flag, values)
    }
  }

  /// What a person reads beside a token that has less than was asked for; nil: it has all. `granted` is the scope of the
  /// token for this selection.
  func warning(_ account: String, granted: [String]) -> String? {
    let missing = scopes.filter { !granted.contains($0) }
    return missing.isEmpty ? nil : "\(account): this token lacks \(missing.joined(separator: " ")): not granted"
  }

  /// As it is typed, for a shell, with a blank behind it where there is something.
  var words: String {
    func options(_ name: String, _ values: [String]) -> String {
      values.map { "\(name)\($0.hasPrefix("-") ? "=" : " ")\(ShellWord.quoted($0)) " }.joined()
    }
    return options("--scope", scopes) + options("--resource", resource) + options("--audience", audience)
  }
}
