import AgentWire
import OAuthTerms
import SystemFacts

/// The account that the flags describe.
extension LoginOptions {
  /// Whether nothing is said of the client, and nothing of the endpoints: what one needs is to be found by the URL alone.
  var isSilentAboutClient: Bool {
    clientID == nil && tokenEndpoint == nil && authorizationEndpoint == nil && !clientSecretFromInput
      && (grant == nil && grantType == nil || device)
  }

  /// The account these flags describe, or nil when neither an issuer nor endpoints are given. `file` is the one of an
  /// account `name` that is there already, as a person reads it.
  ///
  /// - Throws: `CommandError.usage` when they contradict each other or something is missing.
  func account(
    name: String? = nil, file: String? = nil, issuer typed: String?, workingFolder: String?
  ) throws(CommandError) -> NewAccount? {
    guard typed != nil || tokenEndpoint != nil || authorizationEndpoint != nil else {
      if let flag = definingFlags.first {
        if let name, let file {
          if definingFlags == ["--scope"] {
            let scopes = NewAccount.scopes(scope).map { " --add-scope \(ShellWord.quoted($0))" }.joined()
            throw .usage(
              "\(name) exists; --scope is for a new account",
              next: .run(
                "oauthctl login \(name)\(scopes)   # beside the scope it has; or in its place: \(change(in: file)), then: oauthctl login \(name)"
              ))
          }
          if flag == "--replace" {
            throw .usage(
              "\(name) exists, and --replace needs to know by which account",
              next: .run("oauthctl login \(name) ISSUER --client-id ID --replace   # as it is: oauthctl login \(name)"))
          }
          throw .usage(
            "\(name) exists; \(flag) is for a new account",
            next: .advice("\(change(in: file)), then: oauthctl login \(name)"))
        }
        throw .usage(
          "\(flag) is for a new account, whose server has to be named too",
          next: .run("oauthctl login \(name ?? "NAME") ISSUER --client-id ID"))
      }
      return nil
    }
    guard let issuer = typed.map(NewAccount.issuer(typed:)) ?? tokenEndpoint.flatMap(NewAccount.origin(of:)) else {
      throw .usage("--authorization-endpoint needs --token-endpoint or an issuer")
    }
    guard let clientID, !clientID.isEmpty else {
      throw .usage(
        "\(issuer) needs to know which client this is: --client-id is missing",
        next:
          "register a client there (redirect http://127.0.0.1/callback), then run the command again with --client-id ID"
      )
    }
    var account = NewAccount(issuer: issuer, clientID: clientID)
    account.grant = try Self.grant(grant, device: device)
    try setExtension(of: &account)
    account.subjectAccount = subjectAccount
    account.usesDPoP = dpop ? true : nil
    account.scope = NewAccount.scopes(scope)
    account.clientAuthentication = try Self.clientAuthentication(clientAuthentication)
    account.assertionAudience = try Self.assertionAudience(assertionAudience)
    account.redirectURI = try redirect()
    account.redirectPorts = port?.inTurn ?? []
    account.redirectCertificate = try Self.file("--redirect-cert", redirectCertificate, in: workingFolder)
    account.redirectKey = try Self.file("--redirect-key", redirectKey, in: workingFolder)
    account.hosts = host
    account.resource = resource
    account.audience = audience
    account.authorizationEndpoint = authorizationEndpoint
    account.tokenEndpoint = tokenEndpoint
    account.deviceAuthorizationEndpoint = deviceAuthorizationEndpoint
    account.username = username
    account.authorizeParameters = try Self.pairs("--param", parameters)
    account.tokenParameters = try Self.pairs("--token-param", tokenParameters)
    account.certificateAuthorityFile = try Self.certificates(certificateAuthority, in: workingFolder)
    account.gitUsername = gitUsername
    if account.grant?.terms.need == .password, username == nil {
      throw .usage(
        "the \(account.grant?.rawValue ?? "") grant needs your name at the server: --username is missing",
        next: "run the command again with --username NAME")
    }
    if account.grant?.terms.need == .otherLogin, subjectAccount == nil {
      throw .usage(
        "the \(account.grant?.rawValue ?? "") grant needs the account whose token it is made of: "
          + "--subject-account is missing",
        next: "run the command again with --subject-account NAME   # oauthctl account list names them")
    }
    return account
  }

  /// What these flags would write into the file of an account that is there.
  private func change(in file: String) -> String {
    var options = self
    if clientID == nil { options.clientID = "-" }
    let text = (try? options.account(issuer: "https://as.example", workingFolder: "/"))?.tomlText ?? ""
    let lines = text.split(separator: "\n").filter { line in
      !["#", "issuer", clientID == nil ? "client_id" : "#"].contains { line.hasPrefix($0) }
    }
    // The key replaces the issuer's own host, and those that are there.
    if lines.contains(where: { $0.hasPrefix("hosts") }) {
      let added = host.map { "\"\($0)\"" }.joined(separator: ", ")
      return "add \(added) to `hosts` in \(file), beside all that are to stay (where it is not there: the issuer's own)"
    }
    // A key or two. Tables are their own lines.
    guard (1...2).contains(lines.count), lines.allSatisfy({ !$0.hasPrefix("[") }) else {
      return "change what \(definingFlags.first ?? "it") is about in \(file)"
    }
    return "write  \(lines.joined(separator: "  and  "))  into \(file)"
  }

  /// The redirect address that was given; nil: none.
  func redirect() throws(CommandError) -> String? {
    guard let redirectURI else { return try NewAccount.redirectURI(port: port?.only, path: redirectPath) }
    guard port?.only == nil, redirectPath == nil else {
      throw .usage("--redirect-uri is the whole address: leave out --port and --redirect-path")
    }
    return redirectURI
  }

  /// Nil: the default.
  static func grant(_ typed: String?, device: Bool) throws(CommandError) -> GrantKind? {
    guard let typed else { return device ? .deviceCode : nil }
    if typed == "implicit" || typed == "token" {
      throw .usage(
        "the implicit grant is not offered: it puts the token into the browser's address bar and history (RFC 9700 §2.1.2)",
        next: "use --grant authorization_code, which every server with implicit clients can do")
    }
    guard let grant = GrantKind(typed: typed) else {
      throw .usage("--grant \(typed): it is \(GrantKind.choice)")
    }
    if device, grant.terms.giver != .device {
      throw .usage("--device and --grant \(typed) contradict each other")
    }
    return grant
  }
}
