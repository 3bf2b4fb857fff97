import AgentWire
import ArgumentParser
import Glibc
import HTTPTerms
import SystemFacts

struct SetupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "setup", abstract: "Sets up other programs to use oauthctl.",
    subcommands: [Git.self, Proxy.self, Scheme.self])

  struct Git: ContextCommand {
    static let configuration = CommandConfiguration(
      commandName: "git", abstract: "Sets up git to use oauthctl for the hosts of your accounts.",
      discussion: """
        Shows what it changes in git's global configuration, then asks.
        Example: oauthctl setup git
        Two accounts on one host: oauthctl setup git --account work --host https://gitlab.example.com/team
        """)

    @Flag(help: "Removes what setup has added.") var remove = false
    @Option(
      help: "Only this host, or URL with a path (of one repository with its .git); repeatable. Default: all hosts.")
    var host: [String] = []
    @Option(help: "Only the hosts of account NAME, and always its token there.", completion: .accountName)
    var account: String?
    @Flag(name: .shortAndLong, help: "Does not ask.") var yes = false
    @Flag(name: .customLong("dry-run"), help: "Shows what would change, and changes nothing.") var dryRun = false
    @OptionGroup var verbosity: Verbosity

    func run(_ context: CommandContext) throws(CommandError) {
      try GitSetup.checkFile(context.environment)
      let authorities = remove ? nil : GitAuthorityCopies(context.environment).folder
      try SetupCommand.checkHome(
        context.environment, writing: GitReader.files(context.environment), in: [authorities].compactMap(\.self))
      if let account { try AccountName.check(account) }
      if remove, account != nil {
        throw .usage(
          "--account does not choose what --remove takes away, which stands in git's configuration by host",
          next: .run("oauthctl setup git --remove --host HOST"))
      }
      guard ProgramLookup.live(context.environment).find("git") != nil else {
        throw .local("git is not in PATH", next: "apt install git, or your system's own way", status: 1)
      }
      let hosts = try hosts(context)
      let accounts = try? context.allAccounts()
      // A helper that names nobody, or can do nothing, would take the place of one that works.
      if let account, !remove, let accounts {
        guard let own = accounts.first(where: { $0.account == account }) else {
          throw .noAccount(account, among: accounts)
        }
        if own.dpop == true { throw .configuration(GitHosts.words(account), next: GitHosts.step(account)) }
      }
      let helper = remove ? "" : try helper(context)
      let reader = GitReader(context.environment)
      let files = reader.configurations
      let before = try reader.everything()
      var commands: [(scope: [String], command: GitSetup.Command)] = []
      var trusting: [String] = []
      for scope in remove ? reader.scopes : [GitReader.global] {
        let plan = try plan(helper, hosts, accounts ?? [], reader, scope, before, context)
        commands += plan.commands.map { (scope, $0) }
        trusting += plan.trusting
      }
      defer {
        if !remove {
          OwnProgram.warnOfOpenFolder(named: "git", context.terminal)
          warnOfOtherHelpers(hosts, context)
          if !trusting.isEmpty, let other = GitAuthority.override(context.environment) {
            let own = (accounts ?? []).filter { $0.certificateAuthorityFile != nil }
            context.terminal.warn(
              GitAuthority.words(override: other, of: own.map(\.host)), next: GitAuthority.overrideStep)
          }
          if let accounts {
            warnOfUnserved(accounts, context)
            for shared in SharedHosts.undecided(accounts, among: hosts) where account == nil {
              context.terminal.warn(shared.sentence, next: shared.advice)
            }
          }
        } else if host.isEmpty {
          warnOfRest(context)
        }
      }
      if commands.isEmpty {
        if !dryRun { try writeAuthorities(of: trusting, context) }
        if remove { return context.terminal.say("git's configuration names no helper of oauthctl.") }
        try checkIsAsked(hosts, context)
        return context.terminal.say("git is set up already for \(hosts.joined(separator: ", ")).")
      }
      let lines = commands.map { "  " + GitSetup.shown($0.command, in: $0.scope) }
      // Of other bytes we have only that mark, which would be written in their place.
      if let odd = commands.first(where: { $0.command.contains { $0.unicodeScalars.contains("\u{FFFD}") } }) {
        throw .configuration(
          "git's configuration has a value that is no UTF-8, and would be written anew: "
            + GitSetup.shown(odd.command, in: odd.scope),
          next: "take out or put in the lines of oauthctl in an editor: git config --global --edit")
      }
      if dryRun || yes { context.terminal.show(commands: lines) }
      if dryRun { return }
      if !yes {
        try context.terminal.agree(
          "Make these changes to git's global configuration?", commands: lines, otherwise: .run(sameWithYes))
      }
      // By somebody else, and what is to be changed is not known any more. Each file is looked at once more when it is written.
      guard files.allSatisfy(\.isAsItWas) else { throw changedMeanwhile }
      try writeAuthorities(of: trusting, context)
      // Also where one of two files was changed.
      defer {
        if let after = try? reader.everything() {
          GitAuthority(context: context).remove(namedIn: before.values.joined(), butNotIn: after.values.joined())
        }
      }
      try change(commands, files, reader)
      if remove { return context.terminal.say("Done; git asks as it did before.") }
      try checkIsAsked(hosts, context)
      context.terminal.say("Done: git asks oauthctl for \(hosts.joined(separator: ", ")).")
    }

    /// Does all of them in a file, or none: a part of them would switch off the helpers that were there before.
    private func change(
      _ commands: [(scope: [String], command: GitSetup.Command)], _ files: [GitConfigurationFile], _ reader: GitReader
    ) throws(CommandError) {
      // A key that is pressed reaches git, too, which then fails; and copies are removed.
      let interrupts = Interrupts.Held()
      do throws(CommandError) {
        var changed: [(file: GitConfigurationFile, bytes: [UInt8])] = []
        var left = commands.count
        let scopes = Set(commands.map(\.scope))
        for file in files {
          let here = scopes.filter { reader.file(of: $0) == file.path }
          let own = commands.filter { here.contains($0.scope) }.map(\.command)
          if own.isEmpty { continue }
          try file.check()
          changed.append((file, try file.content(after: own, git)))
          left -= own.count
        }
        guard left == 0 else { throw changedMeanwhile }
        for (place, (file, bytes)) in changed.enumerated() {
          do throws(CommandError) { try file.replace(with: bytes, sameAgain: sameAgain) } catch {
            guard place > 0 else { throw error }
            throw .local(
              "\(changed[0].file.path) is changed; \(error.sentence ?? "")", next: sameAgain, status: error.status)
          }
        }
      } catch {
        if let number = interrupts?.end(isAnswered: false) { throw .silent(status: 128 + number) }
        throw error
      }
      _ = interrupts?.end(isAnswered: true)
    }

    private var changedMeanwhile: CommandError {
      .configuration("git's configuration was changed meanwhile; nothing is written", next: sameAgain)
    }

    private var sameAgain: NextStep { .run(yes ? sameWithYes : sameWithYes.replacingFirst(" --yes", with: "")) }

    /// This command, without the question.
    private var sameWithYes: String {
      var words = ["oauthctl", "setup", "git", "--yes"]
      if remove { words.append("--remove") }
      for host in host { words += ["--host", ShellWord.quoted(host)] }
      if let account { words += ["--account", ShellWord.quoted(account)] }
      return words.joined(separator: " ")
    }

    private func hosts(_ context: CommandContext) throws(CommandError) -> [String] {
      if !host.isEmpty {
        for host in host where host.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F }) || host.hasPrefix("-") {
          throw .usage("--host \(host): it is a host name, host:port or URL")
        }
        // No login is ever made there, and git would send what it has.
        for host in host where !remove && host.contains("://") {
          try NewAccount.checkAddress(host) { https in
            (yes ? sameWithYes : sameWithYes.replacingFirst(" --yes", with: ""))
              .replacingFirst(ShellWord.quoted(host), with: ShellWord.quoted(https))
          }
        }
        if !remove { try checkScheme(context) }
        return host
      }
      if remove { return try configuredHosts(context) }
      let accounts = try context.allAccounts()
      let found = GitHosts(accounts.filter { account == nil || $0.account == account })
      for name in found.bound where !found.hosts.isEmpty {
        context.terminal.warn("left out: \(GitHosts.words(name))", next: GitHosts.step(name))
      }
      guard found.hosts.isEmpty else { return found.hosts }
      if let name = found.bound.first { throw .configuration(GitHosts.words(name), next: GitHosts.step(name)) }
      if let unread = accounts.first(where: { $0.state == .configInvalid && (account ?? $0.account) == $0.account }) {
        throw .configuration(
          "\(unread.account): \(unread.reason ?? "its file cannot be used")", next: unread.nextStep)
      }
      if let account { throw .noAccount(account, among: accounts) }
      throw NoAccount(try? context.agent.ask(VaultStatusRequest())).error
    }

    /// A host without a scheme is one of https. Where an account has it as plain http, helpers would be switched off for nothing.
    private func checkScheme(_ context: CommandContext) throws(CommandError) {
      let served = Set((try? context.allAccounts())?.flatMap(\.hosts) ?? [])
      for host in host where !host.contains("://") {
        let plain = (try? Origin(of: "http://" + host))?.description ?? ""
        guard !served.contains(GitSetup.origin(host: host)), served.contains(plain) else { continue }
        throw .usage(
          "--host \(host) means https, where no account has a token; one has for \(plain)",
          next: .run(sameWithYes.replacingFirst(ShellWord.quoted(host), with: ShellWord.quoted(plain))))
      }
    }

    /// Hosts whose key names us or a copy of an authority, whether their account is still there or not.
    private func configuredHosts(_ context: CommandContext) throws(CommandError) -> [String] {
      let reader = GitReader(context.environment)
      let list = try reader.text(["--null", "--get-regexp", "^credential\\..*\\.helper$"])
      var hosts: [String] = []
      for helper in GitConfiguration.helpers(in: list) where GitSetup.isOurs(helper.command) {
        if !hosts.contains(helper.url) { hosts.append(helper.url) }
      }
      let copies = GitAuthorityCopies(context.environment)
      for (url, file) in GitConfiguration.authorities(in: try reader.text(GitConfiguration.authorityQuery))
      where copies.contain(file) && !hosts.contains(url) {
        hosts.append(url)
      }
      return hosts
    }

    /// What git is to start.
    private func helper(_ context: CommandContext) throws(CommandError) -> String {
      let executable = try OwnProgram.path()
      guard !executable.utf8.contains(0x0A) else {
        throw .local("git cannot be told of a program in a folder whose name has a line feed", status: 1)
      }
      let link = GitSetup.link(beside: executable)
      let hasLink = access(link, X_OK) == 0 && ProgramBeside.fault(of: link) == nil
      return GitSetup.helper(executable: executable, hasLink: hasLink, account: account)
    }

    /// What to change, and the accounts whose authorities git is to find then.
    private func plan(
      _ helper: String, _ hosts: [String], _ accounts: [AccountSummary], _ reader: GitReader, _ scope: [String],
      _ before: [[String]: String], _ context: CommandContext
    ) throws(CommandError) -> (commands: [GitSetup.Command], trusting: [String]) {
      var commands: [GitSetup.Command] = []
      var trusting: [String] = []
      var keys = Set(hosts.map(GitSetup.key))
      for host in hosts {
        let key = GitSetup.key(host: host)
        let values = try reader.values(key, in: scope)
        let changes =
          remove
          ? GitSetup.remove(key: key, values: values) : GitSetup.install(key: key, values: values, helper: helper)
        if !changes.isEmpty, GitSetup.movesOthers(key: key, values: values),
          GitConfiguration.standsBeforeOthers(GitSetup.url(host: host), in: before[scope] ?? "")
        {
          throw .configuration(
            "git cannot take oauthctl out of \(key) without moving a helper of your own behind others",
            next: "take out the line of oauthctl, and the empty one before it, in an editor: git config --global --edit"
          )
        }
        commands += changes
        // No empty value here: for the host without its port the earlier helpers go on.
        if !remove, let portless = GitSetup.portlessKey(host: host), !keys.contains(portless),
          case let own = try reader.values(portless, in: scope), !own.contains(where: GitSetup.isOurs)
        {
          keys.insert(portless)
          commands += GitSetup.installPortless(key: portless, values: own, helper: helper)
        }
        if remove, let portless = GitSetup.portlessURL(host: host), keys.insert(GitSetup.key(host: portless)).inserted,
          !Self.isAsked(forPortOf: portless, besides: hosts, in: before[scope] ?? "")
        {
          let key = GitSetup.key(host: portless)
          commands += GitSetup.remove(key: key, values: try reader.values(key, in: scope))
        }
        let read = { (key: String) throws(CommandError) in try reader.values(key, in: scope) }
        commands += try authorityOfPath(host, context, values: read)
        // One for all hosts of a server.
        let isAsked = remove && Self.isAsked(forServerOf: host, besides: hosts, in: before[scope] ?? "")
        if !isAsked, keys.insert(GitSetup.authorityKey(host: host)).inserted {
          commands += try authority(for: host, accounts, &trusting, context, values: read)
        }
        let pathKey = GitSetup.pathKey(host: host)
        commands += GitSetup.path(
          key: pathKey, values: try reader.values(pathKey, in: scope), remove: remove,
          isOurs: GitConfiguration.standsBehindOurs(pathKey, key, in: before[scope] ?? ""), isMoved: !changes.isEmpty)
      }
      return (commands, trusting)
    }

    private func git(_ arguments: [String]) throws(CommandError) -> Program.Output {
      do {
        return try Program.output(of: ["git"] + arguments)
      } catch {
        throw .local("git cannot be started: \(FileBytes.errorText(error.code))", status: 1)
      }
    }
  }
}
