import AgentWire
import ArgumentParser

struct AccountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "account", abstract: "Lists, shows, imports, forgets and accepts accounts.",
    subcommands: [List.self, Show.self, Import.self, Forget.self, Accept.self])

  struct List: ContextCommand {
    static let configuration = CommandConfiguration(
      abstract: "Lists the accounts, worst first.", discussion: "Example: oauthctl account list")
    @Flag(help: "Prints JSON.") var json = false
    @OptionGroup var verbosity: Verbosity

    func run(_ context: CommandContext) throws(CommandError) {
      let accounts = try context.allAccounts()
      if json {
        context.terminal.data(JSONText.pretty(AccountPage(accounts: accounts, next: nil)))
        return
      }
      if accounts.isEmpty {
        let status = try? context.agent.ask(AgentStatus(limit: 1))
        let none = NoAccount(status?.vault)
        context.terminal.warn(none.sentence, next: none.step)
        context.tellFolders(status)
        return
      }
      context.terminal.page(Self.table(accounts).lines(width: context.terminal.columns))
    }

    static func table(_ accounts: [AccountSummary]) -> Table {
      Table(
        columns: [
          .init(title: "ACCOUNT", dropOrder: 0), .init(title: "STATE", dropOrder: 0),
          .init(title: "GRANT", dropOrder: 3),
          .init(title: "HOSTS", dropOrder: 1), .init(title: "SCOPE", dropOrder: 2),
        ],
        rows: accounts.map {
          [
            $0.account, StatusPage.word($0), $0.grant, $0.hosts.joined(separator: " "),
            $0.scope.joined(separator: " "),
          ].map { PrintableText.escaped($0) }
        })
    }
  }

  struct Show: ContextCommand {
    static let configuration = CommandConfiguration(
      abstract: "Shows everything about one account but its secrets.", discussion: "Example: oauthctl account show work"
    )
    @Argument(help: "Account name.", completion: .keptAccountName) var name: String
    @Flag(help: "Prints JSON.") var json = false
    @OptionGroup var verbosity: Verbosity

    func run(_ context: CommandContext) throws(CommandError) {
      try AccountName.check(name)
      let details = try context.agent.ask(AccountShow(account: name), about: name)
      if json {
        context.terminal.data(JSONText.pretty(details))
      } else {
        context.terminal.page(
          AccountPageText(details: details, environment: context.environment, terminal: context.terminal).lines)
      }
    }
  }

  struct Forget: ContextCommand {
    static let configuration = CommandConfiguration(
      abstract: "Deletes an account with its file and its secrets.",
      discussion: """
        The server is told to delete a client that was registered for the account (RFC 7592), and of its login nothing. To \
        revoke the tokens as well, run `oauthctl logout NAME` first.
        Example: oauthctl account forget work
        """)
    @Argument(help: "Account name.", completion: .keptAccountName) var name: String
    @Flag(name: .shortAndLong, help: "Does not ask.") var yes = false
    @OptionGroup var verbosity: Verbosity

    func run(_ context: CommandContext) throws(CommandError) {
      try AccountName.check(name)
      let file = try SettingsFile(account: name, in: context.environment)
      // The agent's login would go with a file of another folder.
      let folders = AgentFolders(context.environment, try context.agent.ask(AgentStatus(limit: 1)))
      if let obstacle = folders.obstacle() { throw obstacle }
      let was = file.state
      var request = AccountForget(account: name)
      let kept = try context.ask(AccountForget(account: name, dryRun: true), unlessUnknownWith: file)
      if !yes {
        var lines = kept?.borrowers.map { [Self.borrowersLine($0, name)] } ?? []
        // One that comes under the question was not in it.
        request = AccountForget(account: name, asShown: kept)
        if let kept = kept?.secrets { lines.append(Self.secretsLine(kept)) }
        if let host = kept?.host, kept?.clientHosts == nil {
          lines.append(
            "\(Self.staysLine(host)) To end it there too, answer n and run: oauthctl logout \(name)")
        }
        for host in kept?.clientHosts ?? [] {
          lines.append(
            "The client that was registered for it at \(host) is deleted there, and with it, at most servers, its login."
          )
        }
        let with = file.exists ? ", with \(context.environment.abbreviated(file.path))" : ""
        let question = "Forget \(name)\(with)?"
        let withYes = NextStep.run("oauthctl account forget \(name) --yes")
        try context.terminal.agree(question, about: lines, otherwise: withYes)
        // Another agent may have the socket by now.
        let folders = AgentFolders(context.environment, try context.agent.ask(AgentStatus(limit: 1)))
        if let obstacle = folders.obstacle() { throw obstacle }
      }
      guard
        let answer = try context.forget(request, file, while: { file.state == was })
      else {
        throw .configuration(
          "\(context.environment.abbreviated(file.path)) was changed meanwhile; nothing is forgotten",
          next: .run("oauthctl account forget \(name)"))
      }
      // Whoever was asked has read it.
      let stays = yes && kept?.clientHosts == nil ? kept?.host : nil
      context.terminal.say("Forgot \(name)." + (stays.map { " " + Self.staysLine($0) } ?? ""))
      if yes, let names = kept?.borrowers {
        context.terminal.warn(Self.borrowersLine(names, name), next: Self.borrowersStep(names))
      }
      if let line = Self.clientLine(answer) { context.terminal.say(line) }
      let revocations = answer.revocations ?? 0
      if revocations > 0 {
        context.terminal.say(
          "Its server must still be told to revoke \(revocations == 1 ? "a token" : "\(revocations) tokens") of an "
            + "earlier login; the agent keeps trying.")
      }
      tellOfGit(context)
    }
  }
}

extension AccountCommand.Forget {
  /// `names`, at least one: accounts that get their tokens for those of `lender`, which is forgotten.
  static func borrowersLine(_ names: [String], _ lender: String) -> String {
    let shown = names.prefix(NamedChoice.most).joined(separator: ", ")
    let others = names.count > NamedChoice.most ? " and \(names.count - NamedChoice.most) more" : ""
    return "\(shown)\(others) \(names.count == 1 ? "gets its tokens" : "get their tokens") for those of \(lender)"
  }

  /// `kinds`, at least one: what is deleted from the vault beside the login.
  private static func secretsLine(_ kinds: [String]) -> String {
    let words = kinds.map { SecretKind(rawValue: $0)?.words ?? "private key" }
    return "Its \(words.joined(separator: " and ")) \(words.count == 1 ? "is" : "are") deleted, too."
  }

  static func borrowersStep(_ names: [String]) -> NextStep {
    let files = names.count == 1 ? "the file of \(names[0])" : "each of their files"
    return "name another `subject_account` in \(files), or log in again under the same name"
  }

  /// A server that has refused a login once may take it again, and one that has not may have ended it meanwhile.
  private static func staysLine(_ host: String) -> String {
    "\(host) is not told, so its login may stay valid there."
  }

  /// What became of the client that was registered for it.
  static func clientLine(_ answer: AccountForgetAnswer) -> String? {
    let reason = answer.clientReason.map { ": " + $0 + ($0.hasSuffix(".") ? "" : ".") } ?? "."
    return switch answer.client {
    case .deleted: "The client that was registered for it is deleted at its server."
    case .pending:
      "Its server must still be told to delete the client that was registered for it\(reason) The agent keeps trying."
    case .refused: "The client that was registered for it stays at its server\(reason)"
    case nil: nil
    }
  }

  /// git may still ask for hosts that only this account had.
  private func tellOfGit(_ context: CommandContext) {
    guard let accounts = try? context.allAccounts(),
      let listed = try? GitReader(context.environment).text(GitConfiguration.query)
    else { return }
    let helpers = GitConfiguration.helpers(in: listed)
    let urls = GitConfiguration.unserved(by: accounts, in: helpers)
    GitAuthority(context: context).warnOfStrays(besides: urls)
    guard !urls.isEmpty else { return }
    context.terminal.warn(
      "git still asks oauthctl for \(urls.joined(separator: ", ")), and no account is there any more",
      next: GitConfiguration.removal(of: urls, in: helpers))
  }
}

extension CommandContext {
  /// Deletes what is kept of an account, and its file, as long as the file `isStill` the one that is meant.
  ///
  /// - Returns: what the agent says of it; nil when the file is another by now: nothing is deleted.
  /// - Throws: `CommandError.configuration` when it became another while the agent deleted the rest, and stays.
  @discardableResult
  func forget(
    _ request: AccountForget, _ file: SettingsFile, while isStill: () -> Bool
  ) throws(CommandError) -> AccountForgetAnswer? {
    guard isStill() else { return nil }
    // Before anything is deleted: an account whose file stays is none that is forgotten.
    try file.checkRemovable()
    let answer = try ask(request, unlessUnknownWith: file)
    let account = request.account
    // The agent took its time: its server was told to delete a client.
    let shown = environment.abbreviated(file.path), next = NextStep.run("oauthctl account forget \(account)")
    let again: AccountForgetAnswer?
    do throws(CommandError) {
      again = try ask(AccountForget(account: account, dryRun: true), unlessUnknownWith: file)
    } catch .agent(let failure, _) where failure.kind == .accountUnknown {
      again = nil
    } catch {
      throw .configuration(
        "\(account) is forgotten, but \(shown) stays: \(error.sentence ?? "the agent is gone")", next: next)
    }
    if again?.login != nil {
      throw .configuration(
        "somebody has logged in to \(account) again meanwhile: that login and the file stay", next: next)
    }
    GitAuthority(context: self).remove(of: account)
    // The command whose login this has ended takes back the file that it has made.
    guard isStill() || !file.exists else {
      throw .configuration("\(account) is forgotten, but \(shown) was changed meanwhile, and stays", next: next)
    }
    try file.remove()
    _ = try agent.ask(ConfigReload())
    return answer ?? AccountForgetAnswer()
  }

  /// - Returns: nil where the agent knows no such account and there is a file: one that it could not use, and never kept
  ///   anything for.
  func ask(
    _ request: AccountForget, unlessUnknownWith file: SettingsFile
  ) throws(CommandError) -> AccountForgetAnswer? {
    do {
      return try agent.ask(request, about: request.account)
    } catch .agent(let failure, _) where failure.kind == .accountUnknown && file.exists {
      return nil
    }
  }

  /// All pages of `account.list`.
  func allAccounts(
    timeoutMilliseconds: Int = WireLimits.defaultTimeoutMilliseconds + 5_000
  ) throws(CommandError) -> [AccountSummary] {
    var accounts: [AccountSummary] = []
    var after: String?
    for _ in 0..<1_000 {
      let page = try agent.call(AccountList(after: after), about: nil, timeoutMilliseconds: timeoutMilliseconds)
      accounts += page.accounts
      guard let next = page.next else { break }
      after = next
    }
    return accounts
  }
}
