import AgentWire

/// Problems of configuration files for people: the first ones, and how many more there are.
struct ProblemText: Sendable, Equatable {
  /// What fits on a screen beside the accounts.
  static let most = 10

  let sentences: [String]
  /// The same with what helps, each below its sentence; those that are mended in their files share the last line.
  let lines: [String]
  /// One line; nil when all are shown.
  let more: String?

  /// `leftOut` is how many more the agent has than it lists.
  init(_ problems: [ConfigurationProblem], leftOut: Int?) {
    let shown = problems.prefix(Self.most)
    sentences = shown.map(\.sentence)
    lines =
      shown.flatMap { [$0.sentence] + ($0.hint == nil ? [] : ["  " + $0.nextStep.line]) }
      + (shown.contains { $0.hint == nil } ? ["  " + ConfigurationProblem.edit.line] : [])
    let others = problems.count - sentences.count + max(0, leftOut ?? 0)
    more = others == 0 ? nil : "and \(others) more problem\(others == 1 ? "" : "s") in configuration files"
  }
}
