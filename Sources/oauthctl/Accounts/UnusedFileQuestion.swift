import AgentWire
import SystemFacts

/// The file of an account that nobody has logged in by is shown before a command that named something else, a URL or a login
/// to import, goes by it: nothing it could be compared with is kept, and what it says decides where tokens go.
struct UnusedFileQuestion {
  let context: CommandContext
  let account: String

  /// Shows the file, and last of all where tokens and secrets go as the agent reads it: a text can be written so that people
  /// read it otherwise. Then asks `question`; a yes is `isGiven` by an option.
  ///
  /// - Returns: what the agent knows of the text that was shown; nil where somebody has logged in by the account, so that
  ///   changes of it are shown by that.
  /// - Throws: `CommandError.declined` too.
  func agree(
    _ question: String, isGiven: Bool, otherwise next: NextStep
  ) throws(CommandError) -> AccountCheckAnswer? {
    let details = try context.agent.ask(AccountShow(account: account), about: account)
    guard details.loggedInAt == nil, details.summary.loggedOut != true else { return nil }
    let file = try SettingsFile(account: account, in: context.environment)
    guard let text = file.text else { throw try unshown(file) }
    let check = try context.agent.ask(
      AccountCheck(account: account, definition: text, discover: false), about: account)
    try check.throwProblem(of: account)
    let path = file.name(in: context.environment)
    let reading = AccountAcceptAnswer(differences: check.differences ?? [], accepted: false)
    let destination = reading.destination
    try context.terminal.agree(
      question,
      about: ["\(account) is set up already, and nobody has logged in by its file: \(path)"]
        + FileLines.shown(text).map { "  " + $0 }
        + reading.unnamedHosts + [check.authorityLine].compactMap(\.self)
        + (destination.isEmpty ? [] : ["By this file tokens and secrets go\(destination)."]),
      isGiven: isGiven, otherwise: next)
    return check
  }

  /// What cannot be shown is not gone by: the agent may have read it before, or read another folder.
  private func unshown(_ file: SettingsFile) throws(CommandError) -> CommandError {
    let check = try context.agent.ask(AccountCheck(account: account, definition: nil, discover: false), about: account)
    try check.throwProblem(of: account)
    let folders = AgentFolders(context.environment, try context.agent.ask(AgentStatus(limit: 1)))
    return folders.obstacle()
      ?? .configuration(
        "\(account): \(file.name(in: context.environment)) cannot be read now, so it cannot be shown",
        next: .run("ls -l \(ShellWord.quoted(file.path))"))
  }
}

extension AccountCheckAnswer {
  /// Throws `CommandError.configuration` for the first problem of the file of `account`, if there is one.
  func throwProblem(of account: String) throws(CommandError) {
    guard let problem = problems.first else { return }
    throw .configuration("\(account): \(problem.sentence)", next: problem.nextStep)
  }

  /// The private authority that the account's servers are believed by, and what it holds; empty: the system's.
  var authority: [DefinitionDifference] { (differences ?? []).filter { $0.key.hasPrefix("ca_file") } }

  /// Throws `CommandError.configuration` where another authority is believed than `before`, when a client was registered: its
  /// secret is for whoever gave it.
  func throwUnless(believedBy before: [DefinitionDifference], _ account: String) throws(CommandError) {
    guard authority != before else { return }
    throw .configuration(
      "\(account): whom its servers are believed by (ca_file) has changed meanwhile; nothing is sent",
      next: .run("oauthctl login \(account)"))
  }

  /// Whom the account's servers are believed by, where that is not the system: the account's file need not say it, since
  /// `config.toml` may.
  var authorityLine: String? {
    differences?.first { $0.key == "ca_file" }.map {
      "Its servers are believed by the certificates of \($0.now), not by the system's."
    }
  }
}
