import AgentTestSupport
import AgentWire
import DevAuthorizationServer
import OAuthProtocol
import OAuthTerms
import Testing

@testable import AgentCore

@Suite("A token got for another account's token")
struct LendingTests {
  /// Nothing is refreshed by plan: each test tells who asks.
  static let company = AccountDefinition.browser.changed {
    $0.name = "company"
    $0.keep = .onDemand
  }

  static func borrower(
    _ name: String = "api", of lender: String = "company", _ change: (inout AccountDefinition) -> Void = { _ in }
  ) -> AccountDefinition {
    AccountDefinition.browser.changed {
      $0.name = name
      $0.file = "/etc/accounts.d/\(name).toml"
      $0.clientID = "dev-exchange"
      $0.clientAuthentication = "client_secret_post"
      $0.grant = .tokenExchange
      $0.scope = ["read"]
      $0.keep = .onDemand
      $0.lent = LentTokens(subject: LentToken(account: lender))
      change(&$0)
    }
  }

  static let exchanges = "urn:ietf:params:oauth:grant-type:token-exchange"

  /// `company` is logged in.
  func fixture(_ others: [AccountDefinition] = [borrower()]) async throws -> AgentFixture {
    let fixture = AgentFixture([Self.company] + others)
    try await fixture.logIn("company")
    return fixture
  }

  /// Logs `name` in, having agreed to what is shown.
  @discardableResult
  func logIn(_ name: String = "api", _ fixture: AgentFixture) async throws -> LoginProgress {
    _ = try? await fixture.call(
      SecretSet(account: name, kind: .clientSecret, value: "dev-exchange-secret"))
    let shown = try await fixture.call(AccountAccept(account: name, dryRun: true, login: true))
    let started = try await fixture.call(
      LoginStart(requestID: "two", account: name, bindingDigest: shown.bindingDigest))
    return try await fixture.call(LoginWait(loginID: started.loginID))
  }

  @Test("the first login is shown whose token goes there, and is not begun without a word")
  func consent() async throws {
    let fixture = try await fixture()
    _ = try await fixture.call(SecretSet(account: "api", kind: .clientSecret, value: "dev-exchange-secret"))
    let refused = await fixture.failure(LoginStart(requestID: "two", account: "api"))
    #expect(refused?.kind == .definitionChanged && refused?.message.contains("subject_account") == true)
    let shown = try await fixture.call(AccountAccept(account: "api", dryRun: true, login: true))
    #expect(
      shown.differences.first
        == DefinitionDifference(key: "subject_account", was: "(none)", now: "company, at http://127.0.0.1:8080"))
    #expect(shown.endpoints?.keys.sorted() == ["revocation_endpoint", "token_endpoint"], "nobody's browser goes there")
    #expect(fixture.tokenRequests(Self.exchanges) == 0)
    try await logIn("api", fixture)
    #expect(fixture.tokenRequests(Self.exchanges) == 1)
    let token = try await fixture.call(TokenGet(account: "api"))
    #expect(await fixture.isGood(token.accessToken) && token.scope == ["read"])
  }

  @Test("fifty accounts that exchange from one login cost it one refresh, and all are served")
  func crowd() async throws {
    let names = (0..<50).map { "api\($0)" }
    let fixture = try await fixture(names.map { Self.borrower($0) })
    for name in names { try await logIn(name, fixture) }
    fixture.clock.advance(by: 3_601)
    let tokens = await withTaskGroup(of: String?.self) { group in
      for name in names { group.addTask { try? await fixture.call(TokenGet(account: name)).accessToken } }
      return await group.reduce(into: [String?]()) { $0.append($1) }
    }
    #expect(Set(tokens.compactMap(\.self)).count == 50)
    #expect(fixture.refreshes == 1)
    #expect(fixture.tokenRequests(Self.exchanges) == 100)
  }

  @Test("the lender's failure is told as such, with its next step, and its next login is enough")
  func lenderLoggedOut() async throws {
    let fixture = try await fixture()
    try await logIn("api", fixture)
    let token = try await fixture.call(TokenGet(account: "api")).accessToken
    _ = try await fixture.call(Logout(account: "company"))
    #expect(await fixture.failure(TokenGet(account: "api"))?.kind == .loginRequired, "not even what is there")
    #expect(try await fixture.call(AccountShow(account: "api")).summary.state == .loginRequired)
    try await fixture.logIn("company", request: "back")
    #expect(try await fixture.call(TokenGet(account: "api")).accessToken == token)
    _ = try await fixture.call(Logout(account: "company"))
    fixture.clock.advance(by: 3_601)
    for _ in 0..<3 {
      let failure = await fixture.failure(TokenGet(account: "api"))
      #expect(failure?.kind == .loginRequired)
      #expect(failure?.hint?.text.hasPrefix("oauthctl login company") == true)
      #expect(failure?.message.hasPrefix("api: it needs a token of company: ") == true)
    }
    let told = try await fixture.call(AccountShow(account: "api")).summary
    #expect(told.state == .loginRequired && told.reason == "it needs a token of company: login needed: not logged in")
    #expect(told.hint == "oauthctl login company")
    #expect(fixture.tokenRequests(Self.exchanges) == 1)
    try await fixture.logIn("company", request: "again")
    try await eventually("it is served again") { (try? await fixture.call(TokenGet(account: "api"))) != nil }
  }

  @Test("a login by the token of an account that needs one itself is not begun, whatever is left of that token")
  func deadLender() async throws {
    let fixture = try await fixture()
    let new = try await AgentFixture([Self.company, Self.borrower()]).call(AccountShow(account: "api")).summary
    #expect(new.state == .new && new.nextStep == .run("oauthctl login company"))
    #expect(new.reason?.hasPrefix("it needs a token of company: login needed: not logged") == true)
    let first = await AgentFixture([Self.company, Self.borrower()]).failure(TokenGet(account: "api"))
    #expect(first?.kind == .loginRequired && first?.hint == .run("oauthctl login company"))
    #expect(first?.message == "api: it needs a token of company: login needed: not logged in")
    #expect(await fixture.failure(TokenGet(account: "api"))?.hint == .run("oauthctl login api"), "the lender is ready")
    try await logIn("api", fixture)
    _ = try await fixture.call(SecretSet(account: "company", kind: .refreshToken, value: "made-up"))
    #expect(await fixture.failure(TokenGet(account: "company", force: true))?.kind == .loginRequired)
    let refused = await fixture.failure(LoginStart(requestID: "three", account: "api"))
    #expect(refused?.kind == .loginRequired && refused?.hint?.text == "oauthctl login company")
    #expect(refused?.message.hasPrefix("api: it needs a token of company: login needed: ") == true)
    #expect(fixture.tokenRequests(Self.exchanges) == 1)
    let hint = try await fixture.call(AccountShow(account: "api")).summary.hint
    #expect(hint?.hasSuffix("; run: oauthctl login company") == true)
    #expect(try await fixture.call(TokenGet(account: "api")).accessToken != "", "what it has is still good")
  }

  @Test("an account is shown with its lender, which names it before it is forgotten; then its state says what it lacks")
  func lenderForgotten() async throws {
    let fixture = try await fixture()
    try await logIn("api", fixture)
    let shown = try await fixture.call(AccountShow(account: "api"))
    #expect(shown.lent == LentTokenNames(subjectAccount: "company", subjectTokenType: "access_token"))
    #expect(shown.summary.hint == nil && shown.clientAuthentication == "client_secret_post")
    let kept = try await fixture.call(AccountForget(account: "api", dryRun: true))
    #expect(kept.borrowers == nil && kept.login != nil && kept.host == nil, "nobody logs in there")
    #expect(try await fixture.call(AccountForget(account: "company", dryRun: true)).borrowers == ["api"])
    _ = try await fixture.call(AccountForget(account: "company"))
    fixture.configuration.set([Self.borrower()])
    _ = try await fixture.call(ConfigReload())
    let left = try await fixture.call(AccountShow(account: "api")).summary
    #expect(left.state == .configInvalid && left.reason == "it needs a token of company, and there is no such account")
    #expect(left.hint == "name an existing account as subject_account in /etc/accounts.d/api.toml")
    #expect(left.expiresAt == nil)
    #expect(await fixture.failure(TokenGet(account: "api"))?.kind == .configInvalid, "not even what is there")
  }

  @Test("a token goes only where the lender's hosts let it go")
  func hosts() async throws {
    let fixture = try await fixture()
    try await logIn("api", fixture)
    fixture.clock.advance(by: 3_601)
    fixture.configuration.set([Self.company.changed { $0.hosts = ["api.example"] }, Self.borrower()])
    _ = try await fixture.call(ConfigReload())
    let failure = await fixture.failure(TokenGet(account: "api"))
    #expect(failure?.kind == .notPermitted)
    #expect(
      failure?.message.hasPrefix("api: it needs a token of company: its tokens may not go to http://127.0.0.1:8080")
        == true)
    #expect(fixture.tokenRequests(Self.exchanges) == 1)
  }

  @Test("a circle is refused with words")
  func circle() async throws {
    let fixture = try await fixture([Self.borrower("a", of: "b"), Self.borrower("b", of: "a")])
    for name in ["a", "b"] {
      let failure = await fixture.failure(AccountAccept(account: name, dryRun: true, login: true))
      #expect(failure?.kind == .loginRequired, "the other is not logged in")
    }
    let chained = try await self.fixture([Self.borrower("a"), Self.borrower("b", of: "a")])
    try await logIn("a", chained)
    let failure = await chained.failure(AccountAccept(account: "b", dryRun: true, login: true))
    #expect(failure?.kind == .configInvalid && failure?.message.contains("lends none") == true)
  }

  @Test("a lent token that the server refuses is got anew once, and its refusal ends no login")
  func refused() async throws {
    let fixture = try await fixture()
    try await logIn("api", fixture)
    fixture.clock.advance(by: 1_800)
    fixture.transport.withServer { $0.revokeAccessTokens() }
    let first = try await fixture.call(TokenGet(account: "company")).accessToken
    let token = try await fixture.call(TokenGet(account: "api", force: true))
    #expect(await fixture.isGood(token.accessToken))
    #expect(fixture.refreshes == 1 && fixture.tokenRequests(Self.exchanges) == 3)
    #expect(try await fixture.call(TokenGet(account: "company")).accessToken != first)
    fixture.transport.withServer {
      $0.script(
        .token, .answer(status: 400, headers: [], body: #"{"error":"invalid_grant"}"#),
        grantType: Self.exchanges, times: 2)
    }
    fixture.clock.advance(by: 3_601)
    let failure = await fixture.failure(TokenGet(account: "api"))
    #expect(failure?.kind == .serverRefused && failure?.oauthError == "invalid_grant")
    fixture.clock.advance(by: 120)
    #expect(try await fixture.isGood(fixture.call(TokenGet(account: "api")).accessToken))
  }

  @Test("who waits for a lender that does not answer holds no place, and is told in time")
  func slow() async throws {
    let fixture = try await fixture()
    try await logIn("api", fixture)
    fixture.clock.advance(by: 3_601)
    fixture.transport.withServer { $0.options.delayMilliseconds[.token] = 50_000 }
    async let hasty = fixture.failure(TokenGet(account: "api", timeoutMilliseconds: 2_000))
    try await eventually("the lender is asked") { fixture.refreshes == 1 }
    try await fixture.clock.sleepers(until: 2)
    fixture.clock.advance(by: 2)
    #expect(await hasty?.kind == .timeout)
    #expect(fixture.tokenRequests(Self.exchanges) == 1)
    fixture.transport.withServer { $0.options.delayMilliseconds[.token] = 0 }
    async let patient = fixture.call(TokenGet(account: "api", timeoutMilliseconds: 100_000))
    fixture.clock.advance(by: 48)
    #expect(try await fixture.isGood(patient.accessToken))
    #expect(fixture.refreshes == 1 && fixture.tokenRequests(Self.exchanges) == 2)
  }

  @Test("after a restart nothing is asked before somebody asks, and then the same is served")
  func restart() async throws {
    let fixture = try await fixture()
    try await logIn("api", fixture)
    let again = fixture.restarted()
    fixture.clock.advance(by: 3_601)
    #expect(try await again.isGood(again.call(TokenGet(account: "api")).accessToken))
    #expect(fixture.refreshes == 1 && fixture.tokenRequests(Self.exchanges) == 2)
  }

  @Test("a locked vault lends nothing")
  func locked() async throws {
    let fixture = try await fixture()
    try await logIn("api", fixture)
    fixture.clock.advance(by: 3_601)
    _ = try await fixture.call(VaultLock())
    #expect(await fixture.failure(TokenGet(account: "api"))?.kind == .vaultLocked)
    #expect(fixture.tokenRequests(Self.exchanges) == 1)
  }
}
