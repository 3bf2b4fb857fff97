import AgentWire
import Glibc
import OAuthTerms
import SystemFacts

/// Makes `accounts.d/NAME.toml`: the agent checks it and asks the server before anything is written.
struct AccountCreation {
  let context: CommandContext
  let name: String
  let replace: Bool
  /// The file that somebody was shown who agreed to have it replaced: one that was changed since is kept.
  private let agreed: SettingsFile.Written?
  private let file: SettingsFile
  /// There was no such file before.
  let isFirst: Bool
  private var isFirstVault = false
  private(set) var isByPassword = false
  /// Nil where the file was not written by this command.
  private var written: SettingsFile.Written?
  /// The folders that were made for the file, innermost first.
  private var madeFolders: [String] = []
  /// Of a file that was there before.
  private var change: AccountFileChange?
  /// The login that was there before without a file; nil: none was.
  private var earlierLogin: String?
  /// Something was kept by that name, be it without a login.
  private let wasKept: Bool

  /// Whether this command has written another text into a file that was there.
  var hasReplaced: Bool { change != nil }

  init(
    context: CommandContext, name: String, replace: Bool, agreed: SettingsFile.Written? = nil, wasKept: Bool? = nil
  ) throws(CommandError) {
    self.context = context
    self.name = name
    self.replace = replace
    self.agreed = agreed
    file = try SettingsFile(account: name, in: context.environment)
    isFirst = !file.exists
    self.wasKept = wasKept ?? Self.isKept(name, context)
  }

  static func isKept(_ account: String, _ context: CommandContext) -> Bool {
    (try? context.agent.ask(AccountForget(account: account, dryRun: true)).kept) == true
  }

  /// Has the client deleted that was registered for an account of which no file was written, so that nothing names it.
  func takeBackClient() {
    // What was kept without a file stays, and the client with it until somebody logs in.
    guard isFirst, !wasKept, written == nil, !file.exists else { return }
    _ = try? context.agent.ask(AccountForget(account: name, login: ""))
  }

  /// `discovers`: a login needs endpoints that the file may not name.
  ///
  /// Interrupts are put off from the moment in which the file is written, until ``Interrupts/endPuttingOff()``.
  ///
  /// - Returns: among others the kinds of secrets the account still needs.
  mutating func create(_ account: NewAccount, discovers: Bool = true) throws(CommandError) -> AccountCheckAnswer {
    let text = account.tomlText
    isByPassword = account.effectiveGrant?.terms.need == .password
    // The agent sees a change of the files within a second, and somebody may have run the step that it told just now.
    _ = try? context.agent.ask(ConfigReload())
    let status = try context.agent.ask(AgentStatus(limit: 1))
    isFirstVault = status.vault.state == .absent
    let folder = AgentFolders(context.environment, status)
    if let obstacle = folder.obstacle() { throw obstacle }
    // By its spelling alone: a file system that hangs is not to be asked.
    if let shut = status.problems.first(where: { $0.hint != nil && file.path.utf8.starts(with: ($0.file + "/").utf8) })
    {
      throw .configuration("\(name): \(shut.sentence)", next: shut.nextStep)
    }
    if let lender = account.subjectAccount { try checkLender(lender) }
    let check = try context.agent.call(
      AccountCheck(account: name, definition: text, discover: discovers ? nil : false),
      // Two discovery documents, each with its own time-out, may have to fail before the answer is there.
      timeoutMilliseconds: 90_000)
    if let refusal = TypedProblems(name: name, account: account).refusal(check.problems, context.terminal) {
      throw refusal
    }
    let path = file.name(in: context.environment)
    // Until the caller has logged in, or taken this back.
    Interrupts.beginPuttingOff()
    let saved = try save(text, to: file, shownAs: path)
    let found = LoginWords.discovery(check, issuer: account.issuer)
    context.terminal.say("\(found) \(saved ? "Saved" : "Unchanged:") \(path)")
    // One that was typed with the login needs no word.
    if account.certificateAuthorityFile == nil, let authority = check.authorityLine { context.terminal.say(authority) }
    // Before a browser opens for what may not succeed.
    for concern in check.concerns ?? [] where concern.check == "server" && concern.isBlocking != true {
      context.terminal.warn("\(name): \(concern.message)")
    }
    let reload = try context.agent.ask(ConfigReload())
    if let problem = reload.problems.first(where: { $0.file.hasSuffix("/\(name).toml") }) {
      throw .configuration("\(name): \(problem.sentence)", next: problem.nextStep)
    }
    return check
  }

  /// A name that nobody knows, or of an account that lends nothing, is refused before anything is written.
  private func checkLender(_ lender: String) throws(CommandError) {
    let details: AccountDetails
    do throws(CommandError) { details = try context.agent.ask(AccountShow(account: lender)) } catch {
      guard case .agent(let failure, _) = error, failure.kind == .accountUnknown else { return }
      throw .configuration("--subject-account \(failure.message)", next: failure.hint)
    }
    guard let lent = details.lent else { return }
    throw .configuration(
      "--subject-account \(lender): it gets its own tokens by those of \(lent.subjectAccount), so it lends none",
      next: "name an account that logs in by itself")
  }

  /// What was written stays.
  func settle() { change?.settle() }

  /// A login that failed leaves no account behind that was made for it: the file goes again, with the secrets that were
  /// given. Of one that was there before the file is as it was. What somebody has logged in to or edited meanwhile stays.
  ///
  /// A login that was cancelled may have been that of another command, which takes back the account that it has made.
  ///
  /// - Returns: `error`, with a next step that needs no account: `command` is this very command line, and
  ///   `otherMethod` another way to send the client secret, where there is one.
  func takingBack(after error: CommandError, command: String, isHalf: Bool, otherMethod: String?) -> CommandError {
    if let change {
      // The commands that are still to come need what was written.
      guard !isHalf else {
        context.terminal.say("\(name) stays as it is set up now.")
        settle()
        return error
      }
      return change.takeBack(after: error) ? advising(error, command: command, otherMethod: otherMethod) : error
    }
    guard isFirst, let written, file.exists else {
      guard case .agent(let failure, _) = error, failure.kind == .loginCancelled else { return error }
      return error.advising(.run(command))
    }
    let path = context.environment.abbreviated(file.path)
    do throws(CommandError) {
      if isHalf {
        context.terminal.say("\(name) stays set up. To undo that: oauthctl account forget \(name)")
        return error
      }
      let details = try context.agent.ask(AccountShow(account: name))
      guard details.summary.state != .loginPending, login == earlierLogin else { return error }
      guard try isRemoved(written) || !file.exists else {
        context.terminal.say(
          "\(path) was changed meanwhile, and stays. To remove it: oauthctl account forget \(name)")
        return error
      }
    } catch {
      // Whoever has forgotten the account meanwhile has removed it.
      guard file.exists else { return error }
      // Where oauthctl was uninstalled meanwhile, no command of it can take the file away.
      let isInstalled = OwnExecutable.path.map { access($0, X_OK) == 0 } ?? true
      context.terminal.warn(
        "\(name) is left behind: \(path)",
        next: .run(isInstalled ? "oauthctl account forget \(name)" : "rm \(ShellWord.quoted(file.path))"))
      return error
    }
    // Only those in which nothing else was put meanwhile.
    for folder in madeFolders { rmdir(folder) }
    context.terminal.say("Nobody logged in: \(path) is removed again.")
    if isFirstVault, (try? context.agent.ask(VaultStatusRequest()))?.state == .open {
      context.terminal.say("The vault stays, and with it the recovery code that was shown.")
    }
    return advising(error, command: command, otherMethod: otherMethod)
  }

  /// Names the login that is kept, also where its account's file is gone; nil: none is.
  private var login: String? { try? context.agent.ask(AccountForget(account: name, dryRun: true)).login }

  /// Removes the file that this command has written; false: it was changed since. What had lost its file before has none again.
  private func isRemoved(_ written: SettingsFile.Written) throws(CommandError) -> Bool {
    guard wasKept else {
      return try context.forget(AccountForget(account: name, login: ""), file, while: { file.isStill(written) }) != nil
    }
    guard file.isStill(written) else { return false }
    try file.remove()
    _ = try? context.agent.ask(ConfigReload())
    return true
  }

  /// - Returns: false when the file says that already.
  private mutating func save(
    _ text: String, to file: SettingsFile, shownAs path: String
  ) throws(CommandError) -> Bool {
    let state = file.state
    let target = state.linkTarget
    if state.exists {
      // What nobody has seen is replaced by nobody.
      guard let old = state.content?.content else {
        var found = stat()
        let isThere = stat(file.path, &found) == 0
        let word = ShellWord.quoted(file.path)
        if !isThere {
          throw .configuration(
            "\(name): \(path) is a link, and what it leads to cannot be reached; nothing is written",
            next: .run("ls -l \(word)"))
        }
        guard found.st_mode & S_IFMT == S_IFREG else {
          throw .configuration(
            "\(name): \(path) is there and is no file; nothing is written",
            next: .run("mv \(word) \(ShellWord.quoted(file.path + ".old"))"))
        }
        throw .configuration(
          "\(name): \(path) is there and cannot be read; nothing is written",
          next: .run(
            found.st_uid != geteuid() ? FileOwner.remedy(word, for: geteuid()) : "chmod 600 \(word)"))
      }
      if old.utf8.elementsEqual(text.utf8) { return false }
      if let agreed, !file.isStill(agreed) {
        throw .configuration("\(path) was changed meanwhile; nothing is written", next: "run the command again")
      }
      // Whoever may write account files would have any other file replaced, and nobody would have seen it.
      if replace, target != nil, !SettingsFile.isAccount(old) {
        throw .configuration(
          "\(name): \(path) leads to no account file; nothing is written",
          next: .run("rm \(ShellWord.quoted(file.path))"))
      }
      if !replace {
        let lines =
          ["\(name) is defined already, and differs:"]
          + FileLines.differences(from: old, to: text).map { "  " + $0 }
        let otherwise: NextStep =
          "to log in as it is: oauthctl login \(name); to change it, run the command again with --replace"
        let link = context.environment.abbreviated(file.path)
        let what = target.map { "\(context.environment.abbreviated($0)) (\(link) is a link to it)" } ?? link
        guard try context.terminal.confirm("Replace \(what)?", about: lines, otherwise: otherwise) else {
          throw .configuration("\(name): kept as it was", next: otherwise)
        }
        // Somebody else's change, made while the question stood, would be undone.
        guard file.state == state else {
          throw .configuration("\(path) was changed meanwhile; nothing is written", next: otherwise)
        }
      }
    }
    let before = state.content
    let loginBefore = before.flatMap { _ in try? context.agent.ask(AccountShow(account: name)).login }
    if before == nil { earlierLogin = login }
    madeFolders = FileBytes.missingFolders(above: file.path)
    // Another command may be at it, too.
    guard let before else {
      written = try file.write(text, behind: target, while: { file.state == state })
      return true
    }
    change = try AccountFileChange(
      context, account: name, file: file, target: target, before: before, login: loginBefore, writing: text,
      while: { file.state == state })
    written = change?.written
    return true
  }
}
