import AgentWire
import ArgumentParser
import OAuthTerms
import Testing

@testable import oauthctl

@Suite("Options that need company")
struct OptionCombinationTests {
  @Test(
    "One that the login could only ignore is refused, with what it is for",
    arguments: [
      (["--keep-password"], .authorizationCode, "--keep-password is for --grant password"),
      (["--password-stdin"], .clientCredentials, "--password-stdin is for --grant password"),
      (["--password-stdin", "--device"], .password, "--password-stdin is for --grant password"),
      (["--subject-account", "a"], .authorizationCode, "--subject-account is for --grant token_exchange or id_jag"),
      (["--device", "--prompt", "login"], .authorizationCode, "--prompt is for a login by browser"),
      (["--port", "8400"], .clientCredentials, "--port is for a login by browser"),
      (["--redirect-uri", "http://127.0.0.1/x"], .password, "--redirect-uri is for a login by browser"),
      (["--param", "a=b"], .jwtBearer, "--param is for a login by browser"),
      (["--no-browser"], .clientCredentials, "--no-browser is for a login by browser or by code"),
      (["--no-qr"], .tokenExchange, "--no-qr is for a login by browser or by code"),
      (["--user", "me"], .tokenExchange, "--user is for a login that a person makes"),
    ] as [([String], GrantKind, String)])
  func refused(flags: [String], grant: GrantKind, words: String) throws {
    let error = #expect(throws: CommandError.self) { try LoginOptions.parse(flags).check(for: grant) }
    #expect(error?.status == 64 && error?.sentence?.hasPrefix(words) == true && error?.nextStep != nil)
  }

  @Test(
    "One that is heard is taken",
    arguments: [
      (["--password-stdin", "--keep-password"], .password), (["--subject-account", "a"], .tokenExchange),
      (["--port", "8400", "--param", "a=b", "--prompt", "login"], .authorizationCode),
      (["--accept-changes", "--username", "me"], .clientCredentials), (["--user", "me"], .password),
      (["--no-browser", "--no-qr", "--user", "me"], .authorizationCode), (["--no-browser", "--device"], .deviceCode),
    ] as [([String], GrantKind)])
  func taken(flags: [String], grant: GrantKind) throws {
    let options = try LoginOptions.parse(flags)
    try options.checkCombinations()
    try options.check(for: grant)
  }

  @Test(
    "What the words alone tell is refused before anything is asked",
    arguments: [
      (["login", "work", "https://id.example", "--client-id", "c", "--set", "a=b"], "--provider is missing"),
      (["login", "work", "--add-scope", "x", "--token-endpoint", "https://id.example/t"], "and --token-endpoint for"),
      (
        [
          "login", "work", "https://id.example", "--client-id", "c", "--client-authentication", "none",
          "--client-secret-stdin",
        ], "no secret is sent with --client-authentication none"
      ),
      (["login", "work", "https://id.example", "--client-id", "c", "--password-stdin"], "is for --grant password"),
      (
        ["login", "work", "https://id.example", "--client-id", "c", "--assertion-audience", "endpoint"],
        "--assertion-audience is for a client that signs, with --client-authentication client_secret_jwt or private"
      ),
      (
        ["login", "work", "https://id.example", "--client-id", "c", "--redirect-cert", "/dev/null"],
        "--redirect-key is missing"
      ),
      (
        ["login", "work", "https://id.example", "--client-id", "c", "--redirect-cert", "/nowhere/c.pem"],
        "--redirect-cert /nowhere/c.pem: there is no such file"
      ),
      (["login", "work", "https://id.example", "--client-id", "c", "--ca", "/nowhere"], "there is no such file"),
      (["vault", "check", "--passphrase"], "--passphrase opens a backup"),
      (["vault", "check", "x", "--passphrase", "--recovery-code"], "not both"),
      (["provider", "show", "gitlab", "--set", "host=h"], "--set is for --json"),
      (["setup", "git", "--remove", "--account", "work"], "--account does not choose what --remove takes away"),
      (["key", "import", "work", "k.pem"], "the key is read from standard input"),
    ] as [([String], String)])
  func words(line: [String], told: String) throws {
    let context = CommandContext.scripted(Page(), ["XDG_CONFIG_HOME": "/nowhere"]) { _ throws(CommandError) in
      throw .silent(status: 1)
    }
    let command = try Oauthctl.parseAsRoot(line)
    let error = #expect(throws: CommandError.self) {
      try (command as? LoginCommand)?.run(context)
      try (command as? VaultCommand.Check)?.run(context)
      try (command as? ProviderCommand.Show)?.run(context)
      try (command as? SetupCommand.Git)?.run(context)
      try (command as? KeyCommand.Import)?.run(context)
    }
    #expect(error?.status == 64 && error?.sentence?.contains(told) == true, "\(String(describing: error))")
  }

  @Test("What an account with a preset has already is not changed by an option that is not heard")
  func preset() throws {
    var account = NewAccount(issuer: "https://id.example", clientID: "c")
    account.redirectCertificate = "/c.pem"
    #expect(throws: CommandError.self) { try LoginOptions.parse([]).checkRedirectFiles(of: account) }
    account.defaults = ["redirect_key_file": .text("/k.pem")]
    try LoginOptions.parse([]).checkRedirectFiles(of: account)
  }

  @Test("What was typed is told by its option and is wrong usage; what a preset brings, by its key")
  func typed() {
    var account = NewAccount(issuer: "https://id.example", clientID: "c")
    account.redirectURI = "foo"
    account.tokenParameters = [("password", "x")]
    account.defaults = ["resource": .list(["foo"])]
    func refusal(_ key: String) -> CommandError? {
      let problem = ConfigurationProblem(file: "f", line: 1, key: key, reason: "it is wrong")
      return TypedProblems(name: "work", account: account).refusal([problem], Page().terminal())
    }
    #expect(refusal("redirect_uri")?.sentence == "work: --redirect-uri: it is wrong")
    #expect(refusal("redirect_uri")?.status == 64)
    #expect(refusal("token_parameters.password")?.sentence == "work: --token-param password: it is wrong")
    #expect(refusal("resource")?.sentence == "work: resource: it is wrong" && refusal("resource")?.status == 3)
    #expect(TypedProblems(name: "work", account: account).refusal([], Page().terminal()) == nil)
  }

  @Test("What the agent refuses of a key that is given is wrong usage")
  func key() throws {
    let context = CommandContext.scripted(Page()) { parameters throws(CommandError) in
      switch parameters {
      case is AccountCheck: return AccountCheckAnswer(problems: [])
      case is VaultStatusRequest: return PretendedAgent().status.vault
      default: throw .agent(AgentFailure(.badRequest, "work: it has a key already"), account: "work")
      }
    }
    let command = try #require(try Oauthctl.parseAsRoot(["key", "create", "work"]) as? KeyCommand.Create)
    let error = #expect(throws: CommandError.self) { try command.run(context) }
    #expect(error?.status == 64 && error?.sentence == "work: it has a key already", "\(String(describing: error))")
  }

  @Test("A scope for an account that is there is told with the option that adds it")
  func addScope() throws {
    let options = try LoginOptions.parse(["--scope", "read write"])
    let error = #expect(throws: CommandError.self) {
      try options.account(name: "work", file: "~/w.toml", issuer: nil, workingFolder: "/")
    }
    #expect(error?.nextStep?.text.hasPrefix("oauthctl login work --add-scope read --add-scope write   # ") == true)
  }

  @Test("What a name that no account has was meant for: another account, a preset, or a broken preset of that name")
  func unknown() {
    var presets = ProviderListAnswer(
      providers: [ProviderSummary(provider: "github", title: "GitHub")],
      problems: [ConfigurationProblem(file: "/c/providers.d/my.toml", line: 1, key: "titel", reason: "no such key")])
    func error(_ name: String) -> CommandError {
      UnknownAccount(name: name, accounts: ["work"], presets: presets).error
    }
    #expect(error("wark").nextStep?.text.hasPrefix("oauthctl login work   # ") == true)
    #expect(error("gitub").nextStep?.text.hasPrefix("oauthctl login github   # ") == true)
    #expect(error("my").sentence?.contains("no such key") == true)
    presets.problems = []
    #expect(error("my").nextStep?.text == "oauthctl login my ISSUER --client-id ID")
  }
}
