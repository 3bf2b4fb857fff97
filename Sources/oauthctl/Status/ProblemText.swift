import AgentWire

/// Problems of configuration files for people: the first ones, and how many more there are.
struct ProblemText: Sendable, Equatable {
  /// What fits on a screen beside the accounts.
  static let most = 10

  let shown: [ConfigurationProblem]
  /// The same as lines, with what helps, each below its sentence; those that are mended in their files share the last line.
  let lines: [String]
  /// One line; nil when all are shown.
  let more: String?

  /// `leftOut` is how many more the agent has than it lists.
  init(_ problems: [ConfigurationProblem], leftOut: Int?) {
    let problems = Self.eachOnce(problems)
    shown = Array(problems.prefix(Self.most))
    lines =
      shown.flatMap { [$0.sentence] + ($0.hint == nil ? [] : ["  " + $0.nextStep.line]) }
      + (shown.contains { $0.hint == nil } ? ["  " + ConfigurationProblem.edit.line] : [])
    let others = problems.count - shown.count + max(0, leftOut ?? 0)
    more = others == 0 ? nil : "and \(others) more problem\(others == 1 ? "" : "s") in configuration files"
  }

  /// One place above both keeps `config.toml` and the accounts' folder from use: it is told of the folder, since the file may
  /// not even be there.
  private static func eachOnce(_ problems: [ConfigurationProblem]) -> [ConfigurationProblem] {
    let folders = problems.filter { $0.isOfFolder && $0.hint != nil }
    return problems.filter { problem in
      problem.isOfFolder || !folders.contains { $0.isBeside(problem) && $0.nextStep == problem.nextStep }
    }
  }
}

extension ConfigurationProblem {
  /// A folder that is not read hides what is in it.
  var isOfFolder: Bool { !file.hasSuffix(".toml") }

  fileprivate func isBeside(_ other: ConfigurationProblem) -> Bool {
    FileBytes.folder(of: file) == FileBytes.folder(of: other.file)
  }
}
