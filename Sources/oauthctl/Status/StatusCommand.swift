import AgentWire
import ArgumentParser
import Glibc

struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Shows every account, worst first, and the agent.",
    discussion: "Example: oauthctl status --json | jq '.accounts[] | select(.state != \"ok\")'")

  @Flag(help: "Prints JSON, as the agent answers it.") var json = false

  func run() throws { try run(.live()) }

  func run(_ bench: Workbench) throws(CommandError) {
    var status = try bench.agent.ask(AgentStatus())
    var pages = 0
    while let next = status.next, pages < 1_000 {
      let page = try bench.agent.ask(AgentStatus(after: next))
      status.accounts += page.accounts
      status.next = page.next
      pages += 1
    }
    if json {
      bench.terminal.data(JSONText.pretty(status))
    } else {
      let page = StatusPage(status: status, accounts: status.accounts, now: time(nil))
      bench.terminal.page(page.lines(bench.terminal))
    }
  }
}
