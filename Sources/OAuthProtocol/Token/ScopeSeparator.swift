/// What stands between the scopes of a request: a blank, as RFC 6749 §3.3 has it, or what some servers want. Answers are read
/// with either (``ScopeList/parse(_:)``).
package enum ScopeSeparator: String, Sendable, CaseIterable {
  case blank = " "
  case comma = ","

  /// `scope` as one parameter.
  func joined(_ scope: [String]) -> String { scope.joined(separator: rawValue) }

  /// The scopes of a list that a person wrote: no word of a server that separates them by commas holds one.
  package func split(_ words: [String]) -> [String] {
    self == .blank ? words : ScopeList.unique(words.flatMap { $0.split(separator: "," as Character).map(String.init) })
  }
}
