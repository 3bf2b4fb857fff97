import AgentClient
import AgentWire
import ArgumentParser
import Glibc

struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Shows every account, worst first, and the agent.",
    discussion: """
      With --watch it goes on until it is interrupted: on a terminal the page is drawn anew as it changes, elsewhere a
      line is written for each change.
      Example: oauthctl status --json | jq '.accounts[] | select(.state != "ok")'
      """)

  @Flag(help: "Prints JSON, as the agent answers it; with --watch, a line for each change.") var json = false
  @Flag(help: "Goes on showing it.") var watch = false

  func run() throws {
    guard watch else { return try run(.live()) }
    let live = Workbench.live()
    let isRedrawn =
      !json && live.terminal.outputIsTerminal && (live.surroundings["TERM"] ?? "dumb") != "dumb"
    if isRedrawn { live.terminal.write("\u{1B}[2J") }
    let changes = WatchedChanges(milliseconds: isRedrawn ? 1_000 : nil)
    try StatusWatch(
      isJSON: json, isRedrawn: isRedrawn, pause: changes.next, terminal: { .live() }, rows: StatusWatch.liveRows,
      now: { time(nil) }
    ).run(first: live.agent, later: WaitingAgent())
  }

  func run(_ bench: Workbench) throws(CommandError) {
    let status = try Self.status(bench.agent)
    if json {
      bench.terminal.data(JSONText.pretty(status))
    } else {
      let page = StatusPage(status: status, accounts: status.accounts, now: time(nil))
      bench.terminal.page(page.lines(bench.terminal))
    }
  }

  /// The agent's answer with the accounts of all pages.
  static func status(_ agent: any AgentCalling) throws(CommandError) -> AgentStatusAnswer {
    var status = try agent.ask(AgentStatus())
    var pages = 0
    while let next = status.next, pages < 1_000 {
      let page = try agent.ask(AgentStatus(after: next))
      status.accounts += page.accounts
      status.next = page.next
      pages += 1
    }
    return status
  }
}
