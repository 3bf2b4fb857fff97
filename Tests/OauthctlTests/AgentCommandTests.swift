import AgentWire
import ArgumentParser
import Glibc
import Testing

@testable import oauthctl

@Suite("The agent's commands")
struct AgentCommandTests {
  private static let home = Environment(["HOME": "/home/u"])

  static func status(
    started: String = "on_demand", log: String? = "/home/u/.local/state/oauthctl/oauthd.log"
  ) -> AgentStatusAnswer {
    AgentStatusAnswer(
      pid: 44, agentVersion: "1.2", started: started, startedAt: 1_790_000_000,
      vault: VaultStatusAnswer(state: .open, slots: ["key_file"], path: "/v"), degraded: ["x\n"], problems: [],
      counts: ["accounts": 3], accounts: [], next: nil,
      folders: ["configuration": "/home/u/.config/oauthctl", "data": "/d", "state": "/s"], log: log)
  }

  @Test("The status is the process, its files, its log and its vault, a line each")
  func page() {
    let report = AgentReport(Self.status(), socket: "/run/user/7/oauthctl/agent.sock")
    let lines = report.lines(Self.home, now: 1_790_003_600)
    #expect(
      lines.filter { !$0.hasPrefix("since ") } == [
        "agent          pid 44, version 1.2, started on demand", "socket         /run/user/7/oauthctl/agent.sock",
        "configuration  ~/.config/oauthctl", "data           /d", "state          /s",
        "log            ~/.local/state/oauthctl/oauthd.log", "vault          open (key file)", "accounts       3",
        "degraded       x\\u{A}",
      ])
    #expect(lines[1].hasPrefix("since          2026-09-2") && lines[1].hasSuffix(" (1 h)"))
  }

  @Test(
    "As JSON it has the same members whoever started the agent",
    arguments: [("journal" as String?, true), ("/s/oauthd.log", true), (nil, false)])
  func json(log: String?, isTold: Bool) throws {
    let page = Page()
    let context = CommandContext.scripted(page) { _ in Self.status(log: log) }
    try #require(try AgentCommand.parseAsRoot(["status", "--json"]) as? AgentCommand.Status).run(context, socket: "/a")
    for member in ["pid", "agent_version", "started", "started_at", "socket", "folders", "vault", "accounts"] {
      #expect(page.output.contains("\"\(member)\" : "))
    }
    #expect(page.output.contains("\"log\" : ") == isTold)
  }

  @Test("The log is where the agent says; without one, where the next would write")
  func place() {
    func place(_ status: AgentStatusAnswer?, hasUnits: Bool = false, _ variables: [String: String] = [:]) -> LogPlace {
      LogPlace(status, hasUnits: hasUnits, Environment(["HOME": "/h"].merging(variables) { $1 }))
    }
    #expect(place(Self.status(log: "journal")) == .journal)
    #expect(place(Self.status(log: "/l"), hasUnits: true) == .file("/l"))
    #expect(place(Self.status(log: "standard_error")) == .standardError(pid: 44))
    #expect(place(Self.status(started: "systemd", log: nil)) == .journal)
    #expect(place(nil, hasUnits: true) == .journal)
    #expect(place(nil) == .file("/h/.local/state/oauthctl/oauthd.log"))
    #expect(place(nil, ["XDG_STATE_HOME": "/s"]) == .file("/s/oauthctl/oauthd.log"))
    #expect(place(nil, ["XDG_STATE_HOME": "s"]) == .file("/h/.local/state/oauthctl/oauthd.log"))
  }

  @Test("The end of the log is the last lines of both files, escaped", arguments: [nil, 3, 0] as [Int?])
  func tail(lines: Int?) throws {
    let folder = "/tmp/oauthctl-log-\(getpid())-\(lines ?? -1)"
    #expect(mkdir(folder, 0o700) == 0)
    defer {
      for name in ["/oauthd.log", "/oauthd.log.1", ""] { remove(folder + name) }
    }
    let page = Page()
    let tail = LogTail(path: folder + "/oauthd.log", terminal: page.terminal())
    #expect(throws: CommandError.self) { try tail.run(lines: lines, follow: false) }
    try FileBytes.replace(folder + "/oauthd.log.1", with: Array("1\n2\n".utf8))
    try FileBytes.replace(folder + "/oauthd.log", with: Array("3\u{1B}[1m\n4\n".utf8))
    try tail.run(lines: lines, follow: false)
    #expect(page.output == ["1\n", "2\n", "3\\u{1B}[1m\n", "4\n"].suffix(lines ?? 4).joined())
  }

  @Test("A flag before the command is ours; behind curl it is curl's")
  func verbosity() throws {
    #expect(Verbosity.taken(from: ["curl", "-v", "https://h"]) == ["curl", "-v", "https://h"])
    let curl = try #require(try Oauthctl.parseAsRoot(["curl", "-v", "https://h"]) as? CurlCommand)
    #expect(curl.arguments == ["-v", "https://h"])
  }

  @Test("Every command but curl's takes --verbose")
  func everywhere() {
    func leaves(_ command: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
      let below = command.configuration.subcommands
      return below.isEmpty ? [command] : below.flatMap(leaves)
    }
    let silent = leaves(Oauthctl.self).filter { !$0.helpMessage().contains("--verbose") }
    #expect(silent.map { $0._commandName } == ["curl"])
  }
}
