import AgentWire

/// What the agent finds wrong with an account that the command line describes: told by the options that were typed, and as
/// wrong usage where all of it was typed. A preset's own keys are named as they are.
struct TypedProblems {
  let name: String
  let account: NewAccount

  /// Nil: nothing is wrong. All but the last are told at once.
  func refusal(_ problems: [ConfigurationProblem], _ terminal: Terminal) -> CommandError? {
    guard let last = problems.last else { return nil }
    for problem in problems.dropLast() { terminal.warn("\(name): \(words(problem))") }
    let next: NextStep = "nothing was written: correct that, and run the command again"
    let isTyped = problems.allSatisfy { $0.key.flatMap(account.option) != nil }
    return isTyped
      ? .usage("\(name): \(words(last))", next: next) : .configuration("\(name): \(words(last))", next: next)
  }

  /// Within text that came from the command line a line number says nothing; the option does, or the key.
  private func words(_ problem: ConfigurationProblem) -> String {
    guard let key = problem.key else { return problem.reason }
    return "\(account.option(of: key) ?? key): \(problem.reason)"
  }
}
