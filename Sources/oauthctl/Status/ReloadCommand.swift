import AgentWire
import ArgumentParser

struct ReloadCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reload", abstract: "Makes the agent read its configuration files again.",
    discussion: "Example: oauthctl reload")

  func run() throws { try run(.live()) }

  func run(_ bench: Workbench) throws(CommandError) {
    let answer = try bench.agent.ask(ConfigReload())
    for problem in answer.problems.dropLast() { bench.terminal.warn(problem.sentence) }
    if let last = answer.problems.last {
      throw .configuration(last.sentence, run: "oauthctl reload once it is put right; the last good definition holds")
    }
    bench.terminal.say("Read \(answer.accounts) account\(answer.accounts == 1 ? "" : "s").")
  }
}
