import AgentClient
import AgentWire
import ArgumentParser

struct AgentCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "agent", abstract: "Shows, ends and restarts the agent, and shows its log.",
    subcommands: [Status.self, Stop.self, Restart.self, Log.self])

  struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Shows the agent that runs: its process, its files, its log.",
      discussion: """
        It starts none. When none runs, the exit status is 7. The accounts are in `oauthctl status`.
        Example: oauthctl agent status --json | jq .log
        """)
    @Flag(help: "Prints JSON.") var json = false
    @OptionGroup var verbosity: Verbosity

    func run() throws {
      let starter = try AgentEnding.starter()
      do throws(CommandError) {
        try run(.withoutStarting(), socket: starter.location.path)
      } catch .notReachable where starter.wouldStart {
        throw CommandError.notReachable("no agent runs; the next command that needs one starts it", next: nil)
      }
    }

    func run(_ context: CommandContext, socket: String) throws(CommandError) {
      let status = try context.agent.ask(AgentStatus(limit: 1))
      let report = AgentReport(status, socket: socket)
      if json {
        context.terminal.data(JSONText.pretty(report))
      } else {
        context.terminal.page(report.lines(context.environment))
      }
      context.tellFolders(status)
    }
  }

  struct Stop: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Ends the agent, once token requests under way have their answer.",
      discussion: """
        Waits for its end, which may take a minute. Under systemd its socket is stopped, too. The next command that needs \
        an agent starts one. When none runs, it does nothing.
        Example: oauthctl agent stop
        """)
    @Flag(help: "Prints JSON.") var json = false
    @OptionGroup var verbosity: Verbosity

    func run() throws {
      let terminal = Terminal.live()
      let starter = try AgentEnding.starter()
      let ended = try AgentEnding(starter: starter, terminal: terminal).stop()
      if json {
        terminal.data(JSONText.pretty(Stopped(stopped: ended != nil, pid: ended)))
      } else if let ended {
        terminal.say("Stopped the agent (pid \(ended)). The next command that needs one starts it.")
      } else {
        // Another may run at the usual place.
        terminal.say(
          starter.location.source == .environment
            ? "No agent listens at \(starter.location.path), which OAUTHCTL_SOCKET names." : "No agent runs.")
      }
    }

    struct Stopped: Encodable {
      var stopped: Bool
      var pid: Int?
    }
  }

  struct Restart: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Ends the agent and starts one, as after an upgrade.",
      discussion: """
        Under systemd, callers wait meanwhile and get their answers. When none runs, it starts one.
        Example: oauthctl agent restart
        """)
    @Flag(help: "Prints JSON: the new agent, as `agent status` does.") var json = false
    @OptionGroup var verbosity: Verbosity

    func run() throws {
      let context = CommandContext.live()
      let starter = try AgentEnding.starter()
      let ended = try AgentEnding(starter: starter, terminal: context.terminal).restart()
      let answer = try context.agent.ask(AgentStatus())
      let status = AgentFolders(context.environment, answer).explained(answer)
      var told: NextStep?
      if json {
        context.terminal.data(JSONText.pretty(AgentReport(status, socket: starter.location.path)))
      } else {
        context.terminal.say("The agent runs: pid \(status.pid), \(StatusPage.vaultText(status.vault)).")
        if status.vault.state == .locked, status.vault.reason == nil {
          context.terminal.warn("it waits for you", next: .run("oauthctl vault unlock"))
        } else if let remedy = status.vault.remedy {
          told = remedy
          context.terminal.warn(status.vault.trouble ?? StatusPage.vaultText(status.vault), next: remedy)
        }
      }
      // This shell has started it, with its own folders.
      if let step = AgentFolders(context.environment, ended).wayBack(from: status) {
        context.terminal.warn(
          step.remark,
          next: told?.text.hasPrefix(step.next.text.replacingFirst("to go back: ", with: "")) == true ? nil : step.next)
      }
      context.tellFolders(status)
      if let gone = GoneFiles(status.accounts).groups.first {
        context.terminal.warn("\(NameList.text(gone.names)): \(gone.reason)", next: gone.step)
      }
      // The agent before could go on with what it had read while the files were right.
      let broken = Set(status.problems.map(\.file)).count
      if broken == 1, let problem = status.problems.first {
        context.terminal.warn(problem.sentence, next: problem.nextStep)
      } else if broken > 1 {
        context.terminal.warn("\(broken) configuration files have problems", next: .run("oauthctl status"))
      }
    }
  }
}
