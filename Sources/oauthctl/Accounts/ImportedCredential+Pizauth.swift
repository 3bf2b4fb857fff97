import AgentWire

extension ImportedCredential {
  /// Names that a refusal tells; pizauth's users have a few.
  private static let namesTold = 10

  /// The account `name` of what pizauth dumps, or the only one in it.
  ///
  /// - Throws: `CommandError.usage` for what is no such dump either, and for one without that login.
  init(dumpedByPizauth bytes: [UInt8], for name: String) throws(CommandError) {
    let accounts: [PizauthDump.Account]
    do throws(PizauthDump.Problem) { accounts = try PizauthDump(bytes).accounts } catch {
      switch error {
      case .notOne:
        throw .usage("standard input holds no JSON object with a login", next: .advice(Self.wanted))
      case .version(let version):
        throw .usage(
          "that is what pizauth dumps, in its format \(version); format 1 alone is known here",
          next: .advice("log in anew: oauthctl login \(name) ISSUER --client-id ID   # the ID stands in pizauth.conf"))
      }
    }
    try self.init(pizauth: accounts, for: name)
  }

  /// - Throws: `CommandError.usage` where none of them is that account, with a login.
  init(pizauth accounts: [PizauthDump.Account], for name: String) throws(CommandError) {
    let logins = accounts.filter(\.hasLogin)
    guard !logins.isEmpty else {
      throw .usage("pizauth had no login when it wrote this", next: .run("oauthctl login \(name)"))
    }
    let names = logins.prefix(Self.namesTold).map { PrintableText.escaped($0.name, limit: 40) }
    let told = names.joined(separator: ", ") + (logins.count > names.count ? " and more" : "")
    guard let account = accounts.first(where: { $0.name == name }) ?? (accounts.count == 1 ? accounts.first : nil)
    else {
      throw .usage(
        "pizauth has logins, but none is called \(name): \(told)", next: .advice("import one under its own name"))
    }
    guard account.hasLogin else {
      throw .usage(
        "pizauth has no login for \(name)", next: .advice("import another under its own name: \(told)"))
    }
    refreshToken = account.refreshToken
    accessToken = account.accessToken
    expiresAt = account.expiresAt
    scope = account.scope.isEmpty ? nil : account.scope
    clientID = account.clientID
    clientSecret = account.clientSecret
    tokenEndpoint = account.tokenEndpoint
    nameGoogle(false)
  }
}
