import AgentWire
import ArgumentParser
import Glibc

struct SetupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "setup", abstract: "Makes other programs ask oauthctl.", subcommands: [Git.self, Proxy.self])

  struct Git: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "git", abstract: "Makes git ask oauthctl for the hosts of your accounts.",
      discussion: """
        Shows what it changes in git's global configuration, then asks.
        Example: oauthctl setup git
        """)

    @Flag(help: "Takes it out again.") var remove = false
    @Option(help: "Only this host; repeatable. Default: the hosts of all accounts.") var host: [String] = []
    @Flag(name: .shortAndLong, help: "Does not ask.") var yes = false
    @Flag(name: .customLong("dry-run"), help: "Only shows.") var dryRun = false

    func run() throws { try run(.live()) }

    func run(_ bench: Workbench) throws(CommandError) {
      guard ProgramLookup.live(bench.surroundings).find("git") != nil else {
        throw .local("git is not in PATH", run: "apt install git, or your system's own way", status: 1)
      }
      let hosts = try hosts(bench)
      let commands = try commands(hosts)
      if commands.isEmpty {
        bench.terminal.say(
          remove
            ? "git's configuration has nothing of ours." : "git is set up already for \(hosts.joined(separator: ", "))."
        )
        return
      }
      for command in commands { bench.terminal.say("  " + GitSetup.shown(command)) }
      if dryRun { return }
      if !yes {
        guard try bench.terminal.confirm("Change git's global configuration so?", otherwise: "oauthctl setup git --yes")
        else {
          throw .silent(status: 1)
        }
      }
      for command in commands {
        guard try git(["config", "--global"] + command).status == 0 else {
          throw .local("git refused: \(GitSetup.shown(command))", run: "git config --global --edit", status: 1)
        }
      }
      bench.terminal.say(
        remove ? "Done; git asks as it did before." : "Done: git asks oauthctl for \(hosts.joined(separator: ", ")).")
    }

    private func hosts(_ bench: Workbench) throws(CommandError) -> [String] {
      if !host.isEmpty {
        for host in host where host.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F }) || host.hasPrefix("-") {
          throw .usage("--host \(host): it is a host name, host:port or URL", run: nil)
        }
        return host
      }
      if remove { return try configuredHosts() }
      var hosts: [String] = []
      for host in try bench.allAccounts().flatMap(\.hosts) where !hosts.contains(host) { hosts.append(host) }
      if hosts.isEmpty {
        throw .configuration("there is no account yet", run: "oauthctl login NAME ISSUER --client-id ID")
      }
      return hosts
    }

    /// Hosts whose key names us, whether their account is still there or not.
    private func configuredHosts() throws(CommandError) -> [String] {
      let list = try git(["config", "--global", "--null", "--get-regexp", "^credential\\..*\\.helper$"])
      var hosts: [String] = []
      for entry in list.text.split(separator: "\0") {
        let parts = entry.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, GitSetup.isOurs(parts[1]) else { continue }
        let url = String(parts[0].dropFirst("credential.".count).dropLast(".helper".count))
        if !hosts.contains(url) { hosts.append(url) }
      }
      return hosts
    }

    private func commands(_ hosts: [String]) throws(CommandError) -> [GitSetup.Command] {
      var helper = ""
      if !remove {
        guard let executable = Program.own else {
          throw .local("/proc/self/exe does not tell where oauthctl is", run: nil, status: 1)
        }
        let link = FileBytes.folder(of: executable) + "/git-credential-oauthctl"
        helper = GitSetup.helper(executable: executable, hasLink: access(link, X_OK) == 0)
      }
      var commands: [GitSetup.Command] = []
      for host in hosts {
        let key = GitSetup.key(host: host)
        let text = try git(["config", "--global", "--null", "--get-all", key]).text
        // Every value ends with NUL, the empty one too.
        let values = text.split(separator: "\0", omittingEmptySubsequences: false).dropLast().map(String.init)
        commands +=
          remove
          ? GitSetup.remove(key: key, values: values) : GitSetup.install(key: key, values: values, helper: helper)
      }
      return commands
    }

    private func git(_ arguments: [String]) throws(CommandError) -> (status: Int32, text: String) {
      do {
        return try Program.output(of: ["git"] + arguments)
      } catch {
        throw .local("git cannot be started: \(FileBytes.errorText(error.code))", run: nil, status: 1)
      }
    }
  }
}
