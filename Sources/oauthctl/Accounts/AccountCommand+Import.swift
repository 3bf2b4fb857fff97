import AgentWire
import ArgumentParser
import Glibc
import OAuthTerms

extension AccountCommand {
  struct Import: ContextCommand {
    static let configuration = CommandConfiguration(
      abstract: "Takes over a login that another program has made, from standard input.",
      discussion: """
        Standard input is one JSON object: refresh_token, client_id, issuer, and what else is there (client_secret, access_token with its end, scope, token_endpoint). oidc-gen --print NAME and gcloud's application_default_credentials.json are such. What pizauth dumps is taken, too: its account of the same name, or its only one.
        The refresh token is used at once, so that you hear of a wrong one. Where the server replaces it, the other program's copy is dead from then on: end its login there.
        Example: oidc-gen --print work | oauthctl account import work
                 pizauth dump | oauthctl account import work
                 oauthctl account import work https://id.example --client-id 3fa9 < FILE
        """)
    @Argument(help: "Account name.", completion: .accountName) var name: String
    @Argument(help: "Issuer of the login, where neither standard input nor the account's file names it.")
    var issuer: String?
    @Option(name: .customLong("client-id"), help: "The client that the login was made with.") var clientID: String?
    @Option(
      name: .customLong("client-authentication"),
      help: ArgumentHelp(
        "How that client proves itself (default: by metadata).", discussion: "\(ClientAuthenticationMethod.choice)."),
      completion: .list(ClientAuthenticationMethod.names))
    var clientAuthentication: String?
    @Option(name: .customLong("token-endpoint"), help: "Endpoint to use instead of the discovered one.")
    var tokenEndpoint: String?
    @Option(parsing: .unconditionalSingleValue, help: "Scope of the login; several in one word or repeated.")
    var scope: [String] = []
    @Option(help: "Host the token may be sent to, when it is not the issuer's; repeatable.") var host: [String] = []
    @Option(
      name: .customLong("ca"), help: ArgumentHelp("Certificate authority of the server.", valueName: "file"),
      completion: .file())
    var certificateAuthority: String?
    @Flag(help: "Replaces the login that is there, and an account file that differs, without asking.")
    var replace = false
    @Flag(
      name: .customLong("accept-changes"),
      help: "Accepts without asking that the file now sends tokens and secrets elsewhere.")
    var acceptChanges = false
    @OptionGroup var verbosity: Verbosity

    func run(_ context: CommandContext) throws(CommandError) {
      try AccountName.check(name)
      try OptionValues.check("--scope", scope)
      if context.terminal.inputIsTerminal {
        throw .usage(
          "the login comes from standard input: a file, or the output of another program",
          next: .run("oauthctl account import \(name) < FILE"))
      }
      guard let text = FileBytes.readAll(from: STDIN_FILENO, limit: ImportedCredential.limitBytes) else {
        throw .usage("standard input cannot be read, or holds more than 256 KiB")
      }
      try run(context, try ImportedCredential(reading: text, for: name))
    }

    func run(_ context: CommandContext, _ credential: ImportedCredential) throws(CommandError) {
      let answer: AccountImportAnswer
      var isNew = false
      if isSilent, let known = try knownAccount(context) {
        answer = try seal(context, credential, for: known, definitionDigest: nil)
      } else {
        var creation = try AccountCreation(context: context, name: name, replace: replace)
        isNew = creation.isFirst
        let account = try account(credential)
        defer { Interrupts.endPuttingOff() }
        do throws(CommandError) {
          // Nobody logs in: the token endpoint is enough.
          let check = try creation.create(account, discovers: account.tokenEndpoint == nil)
          answer = try seal(context, credential, for: nil, definitionDigest: check.definitionDigest)
          creation.settle()
        } catch {
          throw creation.takingBack(
            after: error, command: "oauthctl account import \(name) < FILE", isHalf: false, otherMethod: nil)
        }
      }
      if let number = Interrupts.putOff {
        context.terminal.say("\(name) is sealed, and was not tried yet.")
        if isNew { sayHowToUndo(context) }
        throw .silent(status: 128 + number)
      }
      try use(context, answer, credential, isNew: isNew)
      GitAuthority(context: context).follow(name)
    }

    /// Whether nothing describes an account but what comes from standard input.
    private var isSilent: Bool {
      issuer == nil && clientID == nil && clientAuthentication == nil && tokenEndpoint == nil && scope.isEmpty
        && host.isEmpty && certificateAuthority == nil
    }

    private func knownAccount(_ context: CommandContext) throws(CommandError) -> AccountDetails? {
      guard try SettingsFile(account: name, in: context.environment).exists else { return nil }
      return try context.agent.ask(AccountShow(account: name), about: name)
    }

    /// A refresh token goes to the server that gave it, and by the client that got it. What a person typed comes first.
    /// `known` is the account where standard input alone describes the login.
    private func match(
      _ credential: ImportedCredential, _ known: AccountDetails?, _ shown: AccountImportAnswer
    ) throws(CommandError) {
      func compare(
        _ what: String, _ given: String?, _ its: String?, by part: (String) -> String? = { $0 }
      ) throws(CommandError) {
        guard let given, let its, part(given) != part(its) else { return }
        throw .configuration(
          "\(name): the login on standard input is of another \(what) than the account: "
            + "\(given), and the account's is \(its)",
          next: .run(
            known != nil
              ? "oauthctl account import OTHER   # an account of its own"
              : "oauthctl account import \(name) --token-endpoint URL < FILE   # when you know which of them is right"))
      }
      func bare(_ url: String) -> String? { url.hasSuffix("/") ? String(url.dropLast()) : url }
      if let known {
        try compare("client", credential.clientID, known.summary.clientID)
        try compare("server", credential.issuer, shown.issuer ?? known.summary.issuer, by: bare)
      }
      guard issuer == nil, tokenEndpoint == nil else { return }
      // Without an issuer the whole address is all that names the server.
      let isWhole = known != nil && credential.issuer == nil
      try compare(
        "token endpoint", credential.tokenEndpoint, shown.endpoints["token_endpoint"],
        by: isWhole ? { $0 } : NewAccount.origin(of:))
    }

    /// The account that flags and credential describe; flags come first.
    private func account(_ credential: ImportedCredential) throws(CommandError) -> NewAccount {
      let endpoint = tokenEndpoint ?? (issuer == nil && credential.issuer == nil ? credential.tokenEndpoint : nil)
      let server = (issuer ?? credential.issuer).map(NewAccount.issuer(typed:)) ?? endpoint.flatMap(NewAccount.origin)
      let client = clientID ?? credential.clientID
      guard let server, let client else {
        let missing = [
          server == nil ? "the server (ISSUER, or --token-endpoint)" : nil, client == nil ? "--client-id" : nil,
        ].compactMap(\.self)
        throw .usage(
          "that does not say which \(server == nil ? "server" : "client") the login is of: "
            + missing.joined(separator: " and ") + (missing.count > 1 ? " are" : " is") + " missing",
          next: .run(
            LoginCommand.commandLine(
              LoginCommand.words + (server == nil ? ["ISSUER"] : []) + (client == nil ? ["--client-id", "ID"] : []))
              + " < FILE"))
      }
      var account = NewAccount(issuer: server, clientID: client)
      account.clientAuthentication = try LoginOptions.clientAuthentication(clientAuthentication)
      account.tokenEndpoint = endpoint
      account.scope = NewAccount.scopes(scope.isEmpty ? credential.scope ?? [] : scope)
      account.hosts = host
      account.certificateAuthorityFile = try LoginOptions.certificates(
        certificateAuthority, in: LoginCommand.workingFolder)
      return account
    }

    /// What was shown is what is replaced and bound.
    private func seal(
      _ context: CommandContext, _ credential: ImportedCredential, for known: AccountDetails?,
      definitionDigest: String?
    ) throws(CommandError) -> AccountImportAnswer {
      func look(_ digest: String?) throws(CommandError) -> AccountImportAnswer {
        try context.agent.ask(
          AccountImport(
            account: name, dryRun: true, clientSecret: credential.clientSecret, definitionDigest: digest))
      }
      try VaultCreation(context: context).createIfAbsent()
      var shown = try look(definitionDigest)
      try match(credential, known, shown)
      // Standard input names the server, and the file may send what is in it elsewhere all the same.
      if known != nil,
        let check = try UnusedFileQuestion(context: context, account: name).agree(
          "Send the refresh token as it says?", isGiven: acceptChanges,
          otherwise: "run the command again with --accept-changes   # when you know who wrote that file")
      {
        shown = try look(check.definitionDigest)
        try match(credential, known, shown)
      }
      if !shown.differences.isEmpty {
        let change = AccountAcceptAnswer(
          differences: shown.differences, accepted: false, endpoints: shown.endpoints)
        let lines = ["\(name): the file has changed since the login:"] + change.lines
        try context.terminal.agree(
          "Bind the login to it, and send tokens and secrets of \(name)\(change.destination) as shown?", about: lines,
          isGiven: acceptChanges,
          otherwise: "run the command again with --accept-changes   # when you know who changed the file")
      }
      if let host = shown.host, !replace {
        // One that seems to be dead may live on, where only an answer was lost.
        let state = try context.agent.ask(AccountShow(account: name), about: name).summary.state
        let what =
          state == .loginRequired ? "has a login at \(host) that does not work now" : "is logged in at \(host) already"
        try context.terminal.agree(
          "Replace that login?", about: ["\(name) \(what)."],
          otherwise: "run the command again with --replace, or: oauthctl logout \(name)")
      }
      // What the file was written for has not been done yet.
      if let number = Interrupts.putOff { throw .silent(status: 128 + number) }
      return try context.agent.ask(
        AccountImport(
          account: name, refreshToken: credential.refreshToken, accessToken: credential.accessToken,
          clientSecret: credential.clientSecret, expiresAt: credential.expiresAt,
          scope: credential.scope.map(NewAccount.scopes), replaces: shown.login,
          bindingDigest: shown.bindingDigest))
    }

    /// Uses the refresh token, so that a person hears now of one that does not work. It stays: the server may be wrong today.
    private func use(
      _ context: CommandContext, _ answer: AccountImportAnswer, _ credential: ImportedCredential, isNew: Bool
    ) throws(CommandError) {
      let request = TokenGet(
        account: name, force: credential.refreshToken == nil ? nil : true, timeoutMilliseconds: 60_000)
      do throws(CommandError) {
        let token = try context.agent.call(request, timeoutMilliseconds: 65_000)
        let life = token.expiresInSeconds.map { "This token lasts \(Duration.text(seconds: $0))" }
        context.terminal.say(
          "Imported \(name). \(life ?? "The server does not say how long this token lasts")"
            + (answer.renewable == true
              ? "; it is renewed by itself." : "; then log in again: there is no refresh token."))
      } catch {
        if case .agent(let failure, _) = error, failure.kind.isRetryable {
          context.terminal.say("\(name) is sealed, and was not tried yet: the agent goes on trying.")
        } else {
          context.terminal.say("Took over \(name), but its login does not work.")
          if isNew { sayHowToUndo(context) }
        }
        if case .agent(let failure, _) = error { throw .agent(failure, account: name) }
        throw error
      }
    }

    private func sayHowToUndo(_ context: CommandContext) {
      context.terminal.say("\(name) stays set up. To undo that: oauthctl account forget \(name)")
    }
  }
}
