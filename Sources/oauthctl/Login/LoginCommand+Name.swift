import AgentWire
import SystemFacts

/// Which account a login is for.
extension LoginCommand {
  /// The preset that was named, and the account's name; of an account that is not there yet that is its own name, too.
  func namedProvider(_ context: CommandContext) throws(CommandError) -> (account: String, provider: String)? {
    if let provider = options.provider {
      guard let issuer else {
        return (try accountName(name ?? provider), provider)
      }
      throw .usage(
        "--provider names the server already: leave out \(issuer)",
        next: .run("oauthctl provider show \(ShellWord.quoted(provider))   # what can be set with --set"))
    }
    guard issuer == nil, options.tokenEndpoint == nil, options.authorizationEndpoint == nil, let name,
      AccountName.isValid(name), try !SettingsFile(account: name, in: context.environment).exists,
      let known = try? context.agent.ask(ProviderList()),
      known.providers.contains(where: { $0.provider == name }),
      // A login whose file is gone, or lies elsewhere, has a word of its own.
      (try? context.agent.ask(AccountShow(account: name))) == nil
    else { return nil }
    return (name, name)
  }

  func accountName(_ context: CommandContext, isNew: Bool) throws(CommandError) -> String {
    if let name {
      if isNew { return try accountName(name) }
      try AccountName.check(name)
      return name
    }
    let accounts = isNew ? [] : try context.agent.ask(AccountList(limit: NamedChoice.most + 1)).accounts
    guard accounts.count <= 1 else {
      throw .configuration(
        "several accounts are defined: name one",
        next: .run(NamedChoice.text(accounts.map(\.account)) { "oauthctl login \($0)" }))
    }
    guard let only = accounts.first else {
      throw NoAccount(try? context.agent.ask(VaultStatusRequest())).error
    }
    return only.account
  }

  /// A name for a new account.
  private func accountName(_ name: String) throws(CommandError) -> String {
    if !AccountName.isValid(name), let other = AccountName.like(name) {
      throw .usage(
        AccountName.rule(name), next: .run(Self.commandLine(Self.words.map { $0 == name ? other : $0 })))
    }
    try AccountName.check(name)
    return name
  }
}
