import AgentWire
import HTTPTerms
import SystemFacts

/// What `oauthctl login URL` finds out for itself, where only a URL was given: the server to log in at, the resource that
/// the token is for, its scope, and a client that is registered there.
struct ServerFinding {
  let context: CommandContext
  let account: String
  /// As it was typed, made whole.
  let url: String
  let workingFolder: String?
  /// The options as they were typed.
  let flags: [String]

  /// What is known in the end.
  struct Found {
    var options: LoginOptions
    var issuer: String
    /// One that the server gave with the client's id.
    var clientSecret: String?
    /// The account's file that a person has seen, and agreed to have replaced.
    var agreed: SettingsFile.Written?
    /// The client was registered now.
    var isRegistered = false
    /// Something was kept by that name before.
    var wasKept = false
    /// Whom its server was believed by then.
    var authority: [DefinitionDifference] = []
  }

  /// Milliseconds: a search has up to 24 requests, most of which answer at once.
  private static let timeoutMilliseconds = 120_000

  /// - Returns: nil where the account is there already and belongs to what was found.
  /// - Throws: `CommandError` where nothing is found, where a person does not want to go there, or where no client can be
  ///   registered.
  func find(_ given: LoginOptions) throws(CommandError) -> Found? {
    var options = given
    let text = try definition(options, issuer: url)
    let found: ServerFindAnswer
    do throws(CommandError) {
      found = try context.agent.call(
        ServerFind(account: account, definition: text), timeoutMilliseconds: Self.timeoutMilliseconds)
    } catch {
      guard case .agent(let failure, _) = error, [.configInvalid, .badRequest].contains(failure.kind) else {
        throw error
      }
      throw try typedProblem(options) ?? error
    }
    let known = try knownAccount()
    if let known, known.summary.issuer == found.issuer, (known.resource ?? []) == (found.resource.map { [$0] } ?? []),
      options.definingFlags.isEmpty
    {
      return nil
    }
    if let known, known.summary.issuer == found.issuer, options.definingFlags == ["--scope"] {
      let file = try SettingsFile(account: account, in: context.environment).name(in: context.environment)
      // What is told of an account that is there.
      _ = try options.account(name: account, file: file, issuer: nil, workingFolder: workingFolder)
    }
    // Before a client is registered for it.
    var agreed: SettingsFile.Written?
    if known != nil, !options.replace {
      agreed = try agreeToReplace()
      options.replace = agreed != nil
    }
    try agree(found, options)
    if let resource = found.resource {
      guard found.listsPKCE || options.allowNoPKCEMetadata else {
        throw .configuration(
          "\(found.issuer) does not say that it knows PKCE (S256), without which a code can be stolen",
          next: "run the command again with --allow-no-pkce-metadata   # where you know that it does")
      }
      if options.resource.isEmpty { options.resource = [resource] }
      if let origin = NewAccount.origin(of: resource), origin != NewAccount.origin(of: found.issuer),
        !options.host.contains(origin)
      {
        options.host.append(origin)
      }
    }
    if options.scope.isEmpty { options.scope = found.scope }
    if found.requiresDPoP == true { options.dpop = true }
    guard options.clientID == nil else { return Found(options: options, issuer: found.issuer, agreed: agreed) }
    var registered = try clientOfDocument(options, found)
    if registered == nil { registered = try register(options, found) }
    registered?.agreed = agreed
    return registered
  }

  private func knownAccount() throws(CommandError) -> AccountDetails? {
    do throws(CommandError) { return try context.agent.ask(AccountShow(account: account)) } catch {
      if case .agent(let failure, _) = error, [.accountUnknown, .configInvalid].contains(failure.kind) { return nil }
      throw error
    }
  }

  /// Shows the whole file, since all of it is replaced.
  ///
  /// - Returns: nil where it cannot be read, so that it is asked about again before it is written.
  private func agreeToReplace() throws(CommandError) -> SettingsFile.Written? {
    let file = try SettingsFile(account: account, in: context.environment)
    let current = file.current
    let lines = FileLines.shown(current?.content ?? "")
    let otherwise = NextStep.run(
      (["oauthctl", "login", nameBeside, url] + flags).map(ShellWord.quoted).joined(separator: " ")
        + "   # beside it; in its place: the same command with --replace; as it is: oauthctl login \(account)")
    let isWanted = try context.terminal.confirm(
      "Replace it?",
      about: ["\(account) is another account already: \(file.name(in: context.environment))"]
        + lines.map { "  - " + $0 },
      otherwise: otherwise)
    guard isWanted else { throw CommandError.declined.advising(otherwise) }
    return current
  }

  /// Another server than the one that was named gets the login: a person has to want that.
  private func agree(_ found: ServerFindAnswer, _ options: LoginOptions) throws(CommandError) {
    let shown = found.resource ?? url
    let mine = try? Origin(of: url), theirs = try? Origin(of: found.issuer)
    context.terminal.say("\(shown): you log in at \(found.issuer) (\(found.discovery)).")
    guard mine == nil || mine != theirs else { return }
    let asked = ServerQuestion(
      resource: shown, issuer: found.issuer, destination: mine.map(\.description) ?? url,
      scope: options.scope.isEmpty ? found.scope : options.scope)
    try context.terminal.agree(
      asked.question, about: asked.lines,
      otherwise: .run(command(options, found, "") + "   # when you know that server"))
  }

  private func register(_ given: LoginOptions, _ found: ServerFindAnswer) throws(CommandError) -> Found {
    guard found.registers else {
      let document = try documentObstacle(given, found).map { "; no client metadata document: \($0)" } ?? ""
      throw .usage(
        "\(found.issuer) needs to know which client this is, and registers none by itself: --client-id is missing"
          + document,
        // With a client the URL is taken for the issuer, and what was typed may only lead to it.
        next: .run(
          command(given, found, " --client-id ID")
            + "   # after you registered a client there (redirect http://127.0.0.1/callback)"))
    }
    var options = given
    if !options.device, options.redirectURI == nil {
      // The agent adds the port and the path that are left out.
      guard options.port == nil || options.port?.only != nil else {
        throw .usage("--port with several ports is for a client that knows each of them: --client-id is missing")
      }
      let port = options.port?.only.map { ":\($0)" } ?? ""
      options.redirectURI = "http://127.0.0.1" + port + (options.redirectPath ?? "")
      (options.port, options.redirectPath) = (nil, nil)
    }
    let definition = try definition(options, issuer: found.issuer)
    let check = try context.agent.ask(AccountCheck(account: account, definition: definition, discover: false))
    let wasKept = AccountCreation.isKept(account, context)
    // From here on the server has a client that only the end of the login takes back.
    Interrupts.beginPuttingOff()
    let client = try context.agent.call(
      ClientRegister(account: account, definition: definition), timeoutMilliseconds: Self.timeoutMilliseconds)
    context.terminal.say("\(found.issuer): a client was registered for this account.")
    if let notice = client.notice { context.terminal.say(notice + ".") }
    options.clientID = client.clientID
    // Many servers compare redirects to the letter.
    if !options.device, let redirect = client.redirectURI { options.redirectURI = redirect }
    // Its metadata may not list what it gave.
    options.clientAuthentication =
      client.clientSecret == nil ? "none" : client.clientAuthentication ?? options.clientAuthentication
    return Found(
      options: options, issuer: found.issuer, clientSecret: client.clientSecret, isRegistered: true,
      wasKept: wasKept, authority: check.authority)
  }

  /// A definition to ask with: a client is not known yet.
  private func definition(_ options: LoginOptions, issuer: String) throws(CommandError) -> String {
    var options = options
    if options.clientID == nil { options.clientID = "-" }
    return try options.account(name: account, issuer: issuer, workingFolder: workingFolder)?.tomlText ?? ""
  }

  /// What was typed that the agent does not take; nil: nothing.
  private func typedProblem(_ given: LoginOptions) throws(CommandError) -> CommandError? {
    var options = given
    if options.clientID == nil { options.clientID = "-" }
    guard let described = try options.account(name: account, issuer: url, workingFolder: workingFolder),
      let check = try? context.agent.ask(
        AccountCheck(account: account, definition: described.tomlText, discover: false))
    else { return nil }
    // The URL is of anything that names a server, and need be no issuer.
    let problems = check.problems.filter { $0.key != "issuer" }
    return TypedProblems(name: account, account: described).refusal(problems, context.terminal)
  }

  /// The command as it was typed, with the server and what else was found.
  private func command(_ options: LoginOptions, _ found: ServerFindAnswer, _ more: String) -> String {
    var words = ["oauthctl", "login", account, found.issuer] + flags
    if let resource = found.resource {
      if options.resource.isEmpty || options.resource == [resource], !flags.contains("--resource") {
        words += ["--resource", resource]
      }
      if let origin = NewAccount.origin(of: resource), !flags.contains("--host") { words += ["--host", origin] }
    }
    if !flags.contains("--scope") {
      for scope in found.scope { words += ["--scope", scope] }
    }
    return words.map(ShellWord.quoted).joined(separator: " ") + more
  }

  /// A name for an account of `url` that stands beside this one, as host-path.
  private var nameBeside: String {
    let taken = ((try? context.allAccounts()) ?? []).map(\.account)
    let path = url.split(separator: "/").dropFirst(2).last { !$0.contains("?") && !$0.contains("#") }
    let base = AccountName.like("\(account)-\(path ?? "2")") ?? account
    // With a number where that one is taken.
    let names = [base] + (2...99).map { String(base.prefix(AccountName.longest - 3)) + "-\($0)" }
    return names.first { $0 != account && !taken.contains($0) } ?? "NAME"
  }

  /// A name for the account of a URL: its host.
  static func name(for url: String) -> String? {
    guard let host = try? Origin(of: url).host else { return nil }
    let name = String(host.lowercased().map { AccountName.isValid("a\($0)") ? $0 : "-" }.prefix(AccountName.longest))
    return AccountName.isValid(name) ? name : nil
  }
}
