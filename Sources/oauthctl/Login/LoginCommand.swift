import AgentWire
import ArgumentParser
import OAuthTerms
import SystemFacts

struct LoginCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "login", abstract: "Logs in; with a URL it makes the account first.",
    discussion: """
      The URL is that of an authorization server, of an MCP server or of anything else that names its authorization server \
      (RFC 9728). Without --client-id a client is registered there, where the server does that (RFC 7591).
      Example: oauthctl login https://mcp.example.com/mcp
               oauthctl login work https://gitlab.example.com --client-id 3fa9
      Later:   oauthctl login work
      """)

  @Argument(
    help: "Account name. May be left out when there is one account, and before a URL, whose host becomes the name.",
    completion: .accountName)
  var name: String?
  @Argument(help: "URL of the server to log in at or for: makes accounts.d/NAME.toml.") var issuer: String?
  @OptionGroup var options: LoginOptions
  @OptionGroup var verbosity: Verbosity

  func run(_ context: CommandContext) throws(CommandError) {
    if options.clientSecretFromInput, options.passwordFromInput {
      throw .usage(
        "standard input holds one secret: use --client-secret-stdin or --password-stdin, not both",
        next:
          "run the command again with --client-secret-stdin alone, then: oauthctl login \(name ?? "NAME") --password-stdin < FILE"
      )
    }
    try options.checkCombinations()
    if !options.addedScope.isEmpty { return try addScope(context) }
    if let typed = issuer ?? name, typed.contains("://") {
      try NewAccount.checkAddress(typed) { https in Self.commandLine(Self.words.map { $0 == typed ? https : $0 }) }
    }
    if let (account, provider) = try namedProvider(context) {
      let beginning = ProviderBeginning(
        context: context, account: account, provider: provider, flags: Self.flags(without: name.map { [$0] } ?? []))
      guard let found = try beginning.find(options) else {
        return try logIn(context, account, try agreed(context, account), isNew: false)
      }
      var command = self
      (command.name, command.issuer, command.options) = (account, found.issuer, found.options)
      return try command.make(context, nil, preset: found)
    }
    guard options.answers.isEmpty else {
      throw .usage(
        "--set answers what a preset asks: --provider is missing",
        next: .run("oauthctl provider list   # then the command again with --provider"))
    }
    if issuer == nil, let url = name, url.contains("://"), let account = ServerFinding.name(for: url) {
      var command = self
      (command.name, command.issuer) = (account, url)
      return try command.run(context)
    }
    if let error = misplacedServer(context) { throw error }
    if let typed = issuer, options.isSilentAboutClient {
      let account = try accountName(context, isNew: true)
      let finding = ServerFinding(
        context: context, account: account, url: NewAccount.issuer(typed: typed), workingFolder: Self.workingFolder,
        flags: Self.flags(without: [account, typed]))
      guard let found = try finding.find(options) else {
        return try logIn(context, account, try agreed(context, account), isNew: false)
      }
      var command = self
      (command.name, command.issuer, command.options) = (account, found.issuer, found.options)
      return try command.make(context, found)
    }
    try make(context, nil)
  }

  /// `--add-scope`
  private func addScope(_ context: CommandContext) throws(CommandError) {
    guard issuer == nil, name?.contains("://") != true, options.provider == nil else {
      throw .usage(
        "--add-scope is for an account that is there", next: "name all scopes of a new one with --scope")
    }
    let account = try accountName(context, isNew: false)
    _ = try known(context, account)
    let addition = ScopeAddition(
      context: context, account: account, scopes: NewAccount.scopes(options.addedScope))
    try addition.around { (check) throws(CommandError) in
      try logInAsDefined(context, account, check)
    }
  }

  /// Makes the account, where one is described, and logs in. `found`: what was found out for it.
  private func make(
    _ context: CommandContext, _ found: ServerFinding.Found?, preset: ProviderBeginning.Found? = nil
  ) throws(CommandError) {
    var new = try options.account(
      name: name, file: try knownFile(context), issuer: issuer, workingFolder: Self.workingFolder)
    let account = try accountName(context, isNew: new != nil)
    new?.defaults = preset?.defaults ?? [:]
    new?.provider = preset?.provider
    guard let new else { return try logInAsDefined(context, account) }
    try options.check(for: new.effectiveGrant ?? .standard)
    try options.checkAssertionAudience(of: new)
    try options.checkRedirectFiles(of: new)
    if found == nil, preset == nil { try options.checkUser(new.scope, Self.commandLine(Self.words)) }
    var creation = try AccountCreation(
      context: context, name: account, replace: options.replace, agreed: found?.agreed,
      wasKept: found?.isRegistered == true ? found?.wasKept : nil)
    let isHalf = options.isHalf(new)
    // Where the file is put back, the secret of before is still there.
    let mayKeep = creation.isFirst || isHalf
    defer { Interrupts.endPuttingOff() }
    do throws(CommandError) {
      var check = try creation.create(new)
      if let found, found.isRegistered { try check.throwUnless(believedBy: found.authority, account) }
      var secretsID: String?
      if let registeredSecret = found?.clientSecret {
        try VaultCreation(context: context).createIfAbsent()
        secretsID = self.secretsID(context, account, .clientSecret, mayKeep: mayKeep)
        _ = try context.agent.ask(
          SecretSet(
            account: account, kind: .clientSecret, value: registeredSecret, secretsID: secretsID,
            secretPlace: check.secretPlace),
          about: account)
        check.missingSecrets?.removeAll { $0 == SecretKind.clientSecret.rawValue }
      }
      try logIn(
        context, account, check, isNew: creation.isFirst, replacesFile: creation.hasReplaced, mayKeep: mayKeep,
        secretsID: secretsID)
      creation.settle()
    } catch {
      if found?.isRegistered == true { creation.takeBackClient() }
      throw creation.takingBack(
        // A time that was too short once would be so again.
        after: error, command: Self.commandLine(Self.without("--timeout", Self.words)),
        isHalf: isHalf,
        otherMethod: options.clientSecretFromInput || new.effectiveGrant?.terms.need == .clientSecret
          ? (new.clientAuthentication?.otherWithSecret ?? .clientSecretPost).rawValue : nil)
    }
  }

  /// By the file as it is, or as this command has `written` it. A first login is compared with nothing: it says
  /// whom the server is believed by.
  private func logInAsDefined(
    _ context: CommandContext, _ account: String, _ written: AccountCheckAnswer? = nil
  ) throws(CommandError) {
    let check = if let written { written } else { try known(context, account) }
    if let line = check.authorityLine {
      let details = try context.agent.ask(AccountShow(account: account), about: account)
      if details.loggedInAt == nil, details.summary.loggedOut != true { context.terminal.say(line) }
    }
    try logIn(context, account, check, isNew: false)
  }

  /// What is known of an account that was defined before.
  private func known(_ context: CommandContext, _ account: String) throws(CommandError) -> AccountCheckAnswer {
    // A file that was written a moment ago may not have been read yet.
    _ = try? context.agent.ask(ConfigReload())
    let check = try context.agent.ask(AccountCheck(account: account, definition: nil, discover: false), about: account)
    // Before a vault is made for it.
    guard let problem = check.problems.first else { return check }
    let folder = AgentFolders(context.environment, try context.agent.ask(AgentStatus(limit: 1)))
    if let misplaced = folder.misplaced(account) { throw misplaced }
    // Of a folder that may not be read nobody knows what is in it.
    guard SettingsFile(path: problem.file).exists || problem.hint != nil else {
      let accounts = (try? context.allAccounts()) ?? []
      if let kept = accounts.first(where: { $0.account == account }) {
        // The agent may not have looked yet.
        throw .configuration(
          "\(account): \(kept.fileGone == true ? kept.reason ?? "its file is gone" : "its file is gone")",
          next: kept.fileGone == true ? kept.nextStep : .run("oauthctl reload"))
      }
      throw UnknownAccount(
        name: account, accounts: accounts.map(\.account), presets: try? context.agent.ask(ProviderList())
      )
      .error
    }
    throw .configuration("\(account): \(problem.sentence)", next: problem.nextStep)
  }

  /// The same of one that a server or a preset was named for. Its file may say more than that.
  private func agreed(_ context: CommandContext, _ account: String) throws(CommandError) -> AccountCheckAnswer {
    let check = try known(context, account)
    let question = UnusedFileQuestion(context: context, account: account)
    return try question.agree(
      "Log in by it?", isGiven: options.acceptChanges,
      otherwise: .run("oauthctl login \(account)   # when you know who wrote that file")) ?? check
  }

  private func logIn(
    _ context: CommandContext, _ account: String, _ check: AccountCheckAnswer, isNew: Bool,
    replacesFile: Bool = false, mayKeep: Bool = true, secretsID: String? = nil
  ) throws(CommandError) {
    if let grant = check.grant.flatMap(GrantKind.init(rawValue:)) { try options.check(for: grant) }
    // Before a vault is made, and its recovery code shown, for a login that cannot go on. A secret that is given is kept even
    // so: the next command gives the other one.
    if !options.clientSecretFromInput, !options.passwordFromInput,
      let question = questions(account, check, isNew: isNew).first
    {
      try context.terminal.checkCanAsk(question.text, otherwise: question.otherwise)
    }
    try VaultCreation(context: context).createIfAbsent()
    let given = try secrets(context, account: account, check, isNew: isNew, mayKeep: mayKeep)
    func flow(_ check: AccountCheckAnswer, _ secretsID: String?) -> LoginFlow {
      LoginFlow(
        context: context, account: account, wantsDevice: options.device, noBrowser: options.noBrowser,
        acceptsChanges: options.acceptChanges, definitionDigest: check.definitionDigest, wishes: options.wish,
        timeoutSeconds: options.timeout, replacesFile: replacesFile, secretsID: secretsID,
        drawsQRCode: !options.noQRCode)
    }
    do throws(CommandError) { try flow(check, given ?? secretsID).run() } catch {
      guard !isNew else { throw error }
      let renewal = ClientRenewal(context: context, account: account)
      let isRenewed = try renewal.renew(after: error, check) { (renewed, secretsID) throws(CommandError) in
        try flow(renewed, secretsID).run()
      }
      guard isRenewed else { throw error }
    }
  }

  /// Nil: a secret is kept at once. Else it is for this login, because another one goes by what is kept of that kind, or could,
  /// or is under way.
  private func secretsID(
    _ context: CommandContext, _ account: String, _ kind: SecretKind, mayKeep: Bool
  ) -> String? {
    guard mayKeep else { return LoginFlow.ownSecretsID }
    let kept = try? context.agent.ask(AccountShow(account: account))
    let isFree = kept?.login == nil && kept?.loginPending != true && kept?.secrets.contains(kind.rawValue) != true
    return isFree ? nil : LoginFlow.ownSecretsID
  }

  /// Hands over the secrets that were given, and asks for those that are missing. One at a time: what was given is
  /// kept when the next cannot be asked for.
  ///
  /// - Returns: by which the agent knows those that are for this login alone; nil: none is.
  private func secrets(
    _ context: CommandContext, account: String, _ check: AccountCheckAnswer, isNew: Bool, mayKeep: Bool
  ) throws(CommandError) -> String? {
    let missing = check.missingSecrets ?? []
    var given: String?
    func hand(_ kind: SecretKind, _ value: String) throws(CommandError) {
      let isForOnce = kind == .password && !options.keepPassword
      let id = isForOnce ? LoginFlow.ownSecretsID : secretsID(context, account, kind, mayKeep: mayKeep)
      _ = try context.agent.ask(
        SecretSet(
          account: account, kind: kind, value: value, keep: options.keepPassword,
          secretsID: id, secretPlace: check.secretPlace),
        about: account)
      given = id ?? given
    }
    if missing.contains(AccountCheckAnswer.privateKey) {
      // Before a key is made that could not be used.
      if let concern = check.concerns?.first(where: { $0.check == "client" && $0.isBlocking == true }) {
        throw .configuration("\(account): \(concern.message)", next: concern.nextStep)
      }
      throw .configuration(
        "\(account) has no private key yet, by which its client proves itself",
        next: .run("oauthctl key create \(account)   # register what it prints, then: oauthctl login \(account)"))
    }
    for (kind, isGiven) in [
      (SecretKind.clientSecret, options.clientSecretFromInput), (.password, options.passwordFromInput),
    ] where isGiven {
      try hand(
        kind, try context.terminal.secretFromInput(kind.words, asking: Self.question(kind, account, check)))
    }
    for question in questions(account, check, isNew: isNew) {
      try hand(question.kind, try context.terminal.askSecret(question.text, otherwise: question.otherwise))
    }
    return given
  }
}
