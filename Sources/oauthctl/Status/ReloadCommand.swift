import AgentWire
import ArgumentParser

struct ReloadCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "reload", abstract: "Makes the agent read its configuration files again.",
    discussion: "Example: oauthctl reload")
  @OptionGroup var verbosity: Verbosity

  func run(_ context: CommandContext) throws(CommandError) {
    let answer = try context.agent.ask(ConfigReload())
    let problems = ProblemText(answer.problems, leftOut: answer.problemsLeftOut)
    var told = problems.shown.map { (text: $0.sentence, step: $0.hint == nil ? nil : $0.nextStep) }
    if let more = problems.more { told.append((more, nil)) }
    for one in told.dropLast() { context.terminal.warn(one.text, next: one.step) }
    if let last = told.last {
      throw .configuration(
        last.text,
        next: last.step
          ?? "\(ConfigurationProblem.edit.text); until then the last good definition holds, where there is one")
    }
    for gone in GoneFiles((try? context.allAccounts()) ?? []).groups {
      context.terminal.warn("\(NameList.text(gone.names)): \(gone.reason)", next: gone.step)
    }
    context.terminal.say("Read \(answer.accounts) account\(answer.accounts == 1 ? "" : "s").")
  }
}
