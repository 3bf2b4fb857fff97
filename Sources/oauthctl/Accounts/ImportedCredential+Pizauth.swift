import AgentWire

extension ImportedCredential {
  /// Names that a refusal tells; pizauth's users have a few.
  private static let namesTold = 10

  /// The account `name` of what pizauth dumps, or the only one in it that has a login.
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
    guard let account = accounts.first(where: { $0.name == name }) ?? (accounts.count == 1 ? accounts.first : nil)
    else {
      guard !accounts.isEmpty else {
        throw .usage("pizauth had no login when it wrote this", next: .run("oauthctl login \(name)"))
      }
      let names = accounts.prefix(Self.namesTold).map { PrintableText.escaped($0.name, limit: 40) }
      throw .usage(
        "pizauth has logins, but none is called \(name): " + names.joined(separator: ", ")
          + (accounts.count > names.count ? " and more" : ""),
        next: .advice("import one under its own name"))
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
