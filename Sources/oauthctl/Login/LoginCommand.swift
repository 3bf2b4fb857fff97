import AgentWire
import ArgumentParser
import Glibc

struct LoginCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "login", abstract: "Logs in; with an issuer it makes the account first.",
    discussion: """
      Example: oauthctl login work https://gitlab.example.com --client-id 3fa9 --scope read_repository
      Later:   oauthctl login work
      """)

  @Argument(help: "Account name. May be left out where there is one account.", completion: .accountName)
  var name: String?
  @Argument(help: "URL of the authorization server: makes accounts.d/NAME.toml.") var issuer: String?
  @OptionGroup var options: LoginOptions

  func run() throws { try run(.live()) }

  func run(_ bench: Workbench) throws(CommandError) {
    if options.clientSecretFromInput, options.passwordFromInput {
      throw .usage(
        "standard input holds one secret: use --client-secret-stdin or --password-stdin, not both",
        run: "the same with --client-secret-stdin alone, then: oauthctl login \(name ?? "NAME") --password-stdin < FILE"
      )
    }
    let new = try options.account(name: name, issuer: issuer, workingFolder: Self.workingFolder)
    let account = try accountName(bench, isNew: new != nil)
    let check: AccountCheckAnswer
    if let new {
      check = try AccountCreation(bench: bench, name: account, replace: options.replace).create(new)
    } else {
      check = try bench.agent.ask(
        AccountCheck(account: account, definition: nil, discover: false), about: account)
      // Before a vault is made for it.
      if let problem = check.problems.first {
        let folder = AgentFolder(bench.surroundings, try bench.agent.ask(AgentStatus(limit: 1)))
        if let misplaced = folder.misplaced(account) { throw misplaced }
        guard AccountFile(path: problem.file).exists else {
          throw .configuration(
            "there is no account \(account) yet", run: "oauthctl login \(account) ISSUER --client-id ID")
        }
        throw .configuration(
          "\(account): \(problem.sentence)", run: "mend \(bench.surroundings.abbreviated(problem.file))")
      }
    }
    try VaultCreation(bench: bench).createIfAbsent()
    try secrets(bench, account: account, check)
    try LoginFlow(
      bench: bench, account: account, wantsDevice: options.device, noBrowser: options.noBrowser,
      mayReadInput: !options.clientSecretFromInput && !options.passwordFromInput,
      acceptsChanges: options.acceptChanges
    ).run()
  }

  private func accountName(_ bench: Workbench, isNew: Bool) throws(CommandError) -> String {
    if let name {
      try AccountName.check(name)
      return name
    }
    let accounts = isNew ? [] : try bench.agent.ask(AccountList(limit: 2)).accounts
    guard accounts.count <= 1 else {
      throw .configuration("several accounts are defined: name one", run: "oauthctl login NAME")
    }
    guard let only = accounts.first else {
      throw .configuration("there is no account yet", run: "oauthctl login NAME ISSUER --client-id ID")
    }
    return only.account
  }

  /// Hands over the secrets that were given, and asks for those that are missing. One at a time: what was given is
  /// kept when the next cannot be asked for.
  private func secrets(_ bench: Workbench, account: String, _ check: AccountCheckAnswer) throws(CommandError) {
    let missing = check.missingSecrets ?? []
    func hand(_ kind: SecretKind, _ value: String) throws(CommandError) {
      let keep = kind == .password ? options.keepPassword : nil
      _ = try bench.agent.ask(
        SecretSet(account: account, kind: kind, value: value, keep: keep, secretPlace: check.secretPlace),
        about: account)
    }
    if options.clientSecretFromInput {
      try hand(.clientSecret, try Terminal.secretFromInput("client secret"))
    } else if missing.contains(SecretKind.clientSecret.rawValue) {
      try hand(
        .clientSecret,
        try bench.terminal.askSecret(
          "Client secret of \(account)\(check.secretOwner): ",
          otherwise: "oauthctl secret set \(account) client_secret < FILE, or login with --client-secret-stdin"))
    }
    if options.passwordFromInput {
      try hand(.password, try Terminal.secretFromInput("password"))
    } else if missing.contains(SecretKind.password.rawValue) {
      try hand(
        .password,
        try bench.terminal.askSecret(
          "Password for \(account)\(check.secretOwner): ",
          otherwise: "oauthctl login \(account) --password-stdin < FILE"))
    }
  }

  private static var workingFolder: String {
    guard let path = getcwd(nil, 0) else { return "" }
    defer { free(path) }
    return String(cString: path)
  }
}
