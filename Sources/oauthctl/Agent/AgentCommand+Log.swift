import AgentClient
import AgentWire
import ArgumentParser
import Glibc
import SystemFacts

extension AgentCommand {
  struct Log: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Shows the agent's log, wherever it is.",
      discussion: """
        Under systemd that is the journal, which journalctl shows; else two files in the state folder. `log_level` in \
        config.toml says what is logged.
        Example: oauthctl agent log --follow
        """)
    @Flag(name: .shortAndLong, help: "Keeps running and prints new lines.") var follow = false
    @Option(
      name: [.customShort("n", allowingJoined: true), .long],
      parsing: .unconditional,
      help: ArgumentHelp("Number of last lines to print (default: all; ten with --follow).", valueName: "number"))
    var lines: Int?
    @OptionGroup var verbosity: Verbosity

    func run() throws {
      let environment = Environment.live
      let status = try? ExistingAgent().call(AgentStatus(limit: 1), timeoutMilliseconds: 5_000)
      let hasUnits = try AgentEnding.starter().userManager != nil
      switch LogPlace(status, hasUnits: hasUnits, environment) {
      case .journal: try journal()
      case .standardError(let pid):
        throw CommandError.local(
          "the agent (pid \(pid)) was started by hand, and its standard error is its log", status: 1)
      case .file(let path): try LogTail(path: path, terminal: .live()).run(lines: count, follow: follow)
      }
    }

    func validate() throws {
      if let lines, lines < 0 { throw CommandError.usage("--lines is 0 or more") }
    }

    /// Nil: all.
    private var count: Int? { lines ?? (follow ? 10 : nil) }

    private func journal() throws(CommandError) {
      let words =
        ["journalctl", "--user", "--unit", "oauthd.service"] + (count.map { ["--lines", "\($0)"] } ?? [])
        + (follow ? ["--follow"] : [])
      let child: pid_t
      do { child = try Program.start(words) } catch {
        throw .local("journalctl cannot be started: \(FileBytes.errorText(error.code))", status: 1)
      }
      Interrupts.leave(to: child)
      defer { Interrupts.takeBack() }
      let status = Program.wait(for: child)
      if status != 0 { throw .silent(status: status) }
    }
  }
}

/// Where the log is of the agent that runs, or of the one that would be started.
enum LogPlace: Equatable {
  case journal
  case file(String)
  case standardError(pid: Int)

  init(_ status: AgentStatusAnswer?, hasUnits: Bool, _ environment: Environment) {
    switch status?.log {
    case "journal": self = .journal
    case "standard_error": self = .standardError(pid: status?.pid ?? 0)
    case let path?: self = .file(path)
    case nil where status.map { $0.started == "systemd" } ?? hasUnits: self = .journal
    case nil: self = .file((environment.folder(.state) ?? "") + "/oauthd.log")
    }
  }
}
