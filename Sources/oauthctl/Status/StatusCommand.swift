import AgentWire
import ArgumentParser
import Glibc

struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Shows every account, worst first, and the agent.",
    discussion: """
      With --watch it goes on until it is interrupted: on a terminal the page is redrawn when it changes, elsewhere a \
      line is written for each change.
      With --check the exit status says whether a person or time is needed: 3 file, 4 login, 5 vault, 6 tried again by \
      itself, 9 the server refuses the client, or its secret or key is missing; 0 when every account has its token or \
      gets it when it is asked for.
      JSON calls the states ok, refreshing, retrying, expired (idle: renewed when somebody asks), login_pending (logging \
      in), login_required (login needed), client_rejected (client refused, or with missing_secret: \
      secret missing, key missing), definition_changed (file changed, \
      or with lender_changed: lender changed), config_invalid (file invalid, or with file_gone: file gone), new \
      (or with logged_out: logged out), locked.
      Example: oauthctl status --json | jq '.accounts[] | select(.state == "login_required")'
      """)

  @Flag(help: "Prints JSON, as the agent answers it; with --watch, a line for each change.") var json = false
  @Flag(help: "Keeps running and shows what changes.") var watch = false
  @Flag(help: "Ends with the status of the worst account.") var check = false
  @OptionGroup var verbosity: Verbosity

  func run() throws {
    guard watch else { return try run(.live()) }
    if check {
      throw CommandError.usage(
        "--watch goes on until you end it, so --check has no result to give",
        next: .run("oauthctl status --check"))
    }
    let live = CommandContext.live()
    let isRedrawn =
      !json && live.terminal.outputIsTerminal && (live.environment["TERM"] ?? "dumb") != "dumb"
    if isRedrawn { live.terminal.write("\u{1B}[2J") }
    let changes = WatchedChanges(milliseconds: isRedrawn ? 1_000 : nil)
    try StatusWatch(
      isJSON: json, isRedrawn: isRedrawn, pause: changes.next, terminal: { .live() }, rows: StatusWatch.liveRows,
      now: { time(nil) }
    ).run(first: live.agent, later: ExistingAgent())
  }

  func run(_ context: CommandContext) throws(CommandError) {
    let status = try Self.status(context.agent)
    if json {
      context.terminal.data(JSONText.pretty(status))
    } else {
      let told = AgentFolders(context.environment, status).explained(status)
      let page = StatusPage(status: told, accounts: told.accounts, now: time(nil))
      context.terminal.page(page.lines(context.terminal))
    }
    context.tellFolders(status)
    let code = check ? Self.exitStatus(status) : 0
    if code != 0 { throw .silent(status: code) }
  }

  /// What `--check` ends with: that of the vault, else that of the first account that lacks something.
  static func exitStatus(_ status: AgentStatusAnswer) -> Int32 {
    switch status.vault.state {
    case .locked, .keyMissing, .damaged: return 5
    case .inUse, .failed: return 6
    // Nothing is refreshed until somebody accepts it.
    case .open where status.vault.rolledBack == true: return 5
    case .absent, .open: break
    }
    return status.accounts.lazy.map { exitStatus($0.state) }.first { $0 != 0 } ?? (status.problems.isEmpty ? 0 : 3)
  }

  private static func exitStatus(_ state: AccountSummary.State) -> Int32 {
    switch state {
    case .ok, .refreshing, .expired: 0
    case .definitionChanged, .configInvalid: 3
    case .new, .loginRequired, .loginPending: 4
    case .locked: 5
    case .retrying: 6
    case .clientRejected: 9
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
