import AgentWire
import ArgumentParser

struct ReloadCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reload", abstract: "Makes the agent read its configuration files again.",
    discussion: "Example: oauthctl reload")
  @OptionGroup var verbosity: Verbosity

  func run() throws { try run(.live()) }

  func run(_ context: CommandContext) throws(CommandError) {
    let answer = try context.agent.ask(ConfigReload())
    let problems = ProblemText(answer.problems, leftOut: answer.problemsLeftOut)
    let isOne = answer.problems.count == 1
    let lines = (isOne ? problems.sentences : problems.lines) + (problems.more.map { [$0] } ?? [])
    for line in lines.dropLast() { context.terminal.warn(line) }
    if let last = lines.last {
      throw .configuration(
        last,
        next: isOne && answer.problems[0].hint != nil
          ? answer.problems[0].nextStep
          : "put it right, then: oauthctl reload; the last good definition holds, where there is one")
    }
    for account in (try? context.allAccounts()) ?? [] where account.fileGone == true {
      context.terminal.warn("\(account.account): \(account.reason ?? "its file is gone")", next: account.nextStep)
    }
    context.terminal.say("Read \(answer.accounts) account\(answer.accounts == 1 ? "" : "s").")
  }
}
