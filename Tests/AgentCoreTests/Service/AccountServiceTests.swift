import AgentCore
import AgentTestSupport
import AgentWire
import DevAuthorizationServer
import OAuthProtocol
import Testing
import TokenVault

@Suite("Accounts, secrets and configuration")
struct AccountServiceTests {
  @Test("a reload with problems keeps the last good definition, and says where the problem is")
  func reload() async throws {
    let fixture = try await AgentFixture.loggedIn()
    let problem = ConfigurationProblem(file: AccountDefinition.browser.file, line: 3, key: "issuer", reason: "no URL")
    fixture.configuration.set([], problems: [problem])
    let answer = try await fixture.call(ConfigReload())
    #expect(answer.problems == [problem])
    #expect(try await fixture.isGood(fixture.call(TokenGet(account: "work")).accessToken))
    let page = try await fixture.call(AccountList())
    #expect(page.accounts.first?.state == .configInvalid)
    #expect(page.accounts.first?.reason == problem.sentence)
    fixture.configuration.set([])
    _ = try await fixture.call(ConfigReload())
    #expect(await fixture.failure(TokenGet(account: "work"))?.kind == .accountUnknown)
    #expect(fixture.ready.token(for: "work", minimumValiditySeconds: nil, at: fixture.clock.now()) == nil)
    fixture.configuration.set([.browser])
    _ = try await fixture.call(ConfigReload())
    #expect(
      try await fixture.isGood(fixture.call(TokenGet(account: "work")).accessToken), "the grant was kept meanwhile")
  }

  @Test("a folder that cannot be read loses no account")
  func unreadableFolder() async throws {
    let fixture = try await AgentFixture.loggedIn()
    #expect(AccountDefinition.browser.file == "/etc/accounts.d/work.toml")
    let problem = ConfigurationProblem(file: "/etc/accounts.d", line: nil, key: nil, reason: "cannot be opened")
    fixture.configuration.set([], problems: [problem])
    #expect(try await fixture.call(ConfigReload()).problems == [problem])
    #expect(try await fixture.isGood(fixture.call(TokenGet(account: "work")).accessToken))
  }

  @Test("a changed definition sends nothing until it is accepted, and shows what changed")
  func accept() async throws {
    let fixture = try await AgentFixture.loggedIn()
    fixture.configuration.set([.browser.changed { $0.hosts = ["http://127.0.0.1:8080", "http://127.0.0.1:9090"] }])
    _ = try await fixture.call(ConfigReload())
    #expect(try await fixture.isGood(fixture.call(TokenGet(account: "work")).accessToken))
    #expect(await fixture.failure(TokenGet(account: "work", url: "http://127.0.0.1:9090/"))?.kind == .notPermitted)
    fixture.clock.advance(by: 3_601)
    #expect(await fixture.failure(TokenGet(account: "work"))?.kind == .definitionChanged)
    let dry = try await fixture.call(AccountAccept(account: "work", dryRun: true))
    #expect(dry.accepted == false)
    #expect(dry.differences.map(\.key) == ["hosts"])
    #expect(await fixture.failure(TokenGet(account: "work"))?.kind == .definitionChanged)
    #expect(fixture.refreshes == 0)
    #expect(await fixture.failure(AccountAccept(account: "work"))?.kind == .definitionChanged)
    #expect(
      await fixture.failure(AccountAccept(account: "work", bindingDigest: "0"))?.kind == .definitionChanged)
    #expect(try await fixture.call(AccountAccept(account: "work", bindingDigest: dry.bindingDigest)).accepted)
    let token = try await fixture.call(TokenGet(account: "work", url: "http://127.0.0.1:9090/"))
    #expect(token.matchedHost == "http://127.0.0.1:9090")
    #expect(fixture.refreshes == 1)
  }

  @Test("a change that was agreed to is none from somewhere else, though the result is the same")
  func acceptsFromWhatWasShown() async throws {
    let fixture = try await AgentFixture.loggedIn()
    let (first, second) = ("http://127.0.0.1:9090", "http://127.0.0.1:7070")
    func change(_ host: String) async throws {
      fixture.configuration.set([.browser.changed { $0.hosts = ["http://127.0.0.1:8080", host] }])
      _ = try await fixture.call(ConfigReload())
    }
    try await change(first)
    let shown = try await fixture.call(AccountAccept(account: "work", dryRun: true))
    try await change(second)
    let other = try await fixture.call(AccountAccept(account: "work", dryRun: true))
    #expect(try await fixture.call(AccountAccept(account: "work", bindingDigest: other.bindingDigest)).accepted)
    try await change(first)
    #expect(
      await fixture.failure(AccountAccept(account: "work", bindingDigest: shown.bindingDigest))?.kind
        == .definitionChanged)
    #expect(await fixture.failure(TokenGet(account: "work", url: first + "/"))?.kind == .notPermitted)
  }

  @Test("a host that is taken out of the file gets no token from the next reading on, nor what it waits for")
  func hostTakenOut() async throws {
    let hosts = ["http://127.0.0.1:8080", "http://127.0.0.1:9090"]
    let both = AccountDefinition.browser.changed { $0.hosts = hosts }
    let fixture = try await AgentFixture.loggedIn(both)
    let other = TokenGet(account: "work", url: hosts[1])
    #expect(try await fixture.call(other).matchedHost == hosts[1])
    // A request that waits for a refresh meanwhile.
    fixture.transport.withServer { $0.options.delayMilliseconds[.token] = 5_000 }
    fixture.clock.advance(by: 3_601)
    async let waiting = fixture.failure(other)
    try await fixture.clock.sleepers(until: 5)
    fixture.configuration.set([both.changed { $0.hosts = [hosts[0]] }])
    _ = try await fixture.call(ConfigReload())
    fixture.clock.advance(by: 5)
    #expect(await waiting?.kind == .notPermitted)
    #expect(await fixture.failure(other)?.kind == .notPermitted)
    #expect(await fixture.failure(TokenGet(url: hosts[1]))?.kind == .accountUnknown)
    #expect(try await fixture.call(TokenGet(url: hosts[0])).matchedHost == hosts[0])
    #expect(try await fixture.isGood(fixture.call(TokenGet(account: "work")).accessToken))
    fixture.configuration.set([both])
    _ = try await fixture.call(ConfigReload())
    #expect(try await fixture.call(other).matchedHost == hosts[1])
  }

  @Test("secrets are validated, kept, told by kind and never read back")
  func secrets() async throws {
    let fixture = try await AgentFixture.loggedIn()
    #expect(await fixture.failure(SecretSet(account: "work", kind: .clientSecret, value: ""))?.kind == .badRequest)
    #expect(await fixture.failure(SecretSet(account: "work", kind: .clientSecret, value: "a\n"))?.kind == .badRequest)
    #expect(
      await fixture.failure(
        SecretSet(account: "work", kind: .password, value: String(repeating: "x", count: 32_769), keep: true))?.kind
        == .badRequest)
    _ = try await fixture.call(SecretSet(account: "work", kind: .clientSecret, value: "hush-hush"))
    let shown = try await fixture.call(AccountShow(account: "work"))
    #expect(shown.secrets == ["client_secret", "refresh_token"])
    #expect(!"\(shown)".contains("hush-hush"))
    _ = try await fixture.call(SecretForget(account: "work", kind: .clientSecret))
    #expect(try await fixture.call(AccountShow(account: "work")).secrets == ["refresh_token"])
  }

  @Test("a refresh token given by hand is used for the next refresh")
  func refreshTokenByHand() async throws {
    let fixture = try await AgentFixture.loggedIn()
    _ = try await fixture.call(SecretSet(account: "work", kind: .refreshToken, value: "made-up"))
    #expect(try await fixture.call(AccountForget(account: "work", dryRun: true)).host == "127.0.0.1:8080")
    fixture.clock.advance(by: 3_601)
    let failure = await fixture.failure(TokenGet(account: "work"))
    #expect(failure?.kind == .loginRequired)
    #expect(failure?.oauthError == "invalid_grant")
    #expect(
      try await fixture.call(AccountForget(account: "work", dryRun: true)).host == nil, "nothing stays valid there")
  }

  @Test("forget deletes the record; an account that is gone from the files, too, is gone whole")
  func forget() async throws {
    let fixture = try await AgentFixture.loggedIn()
    _ = try await fixture.call(AccountForget(account: "work"))
    #expect(fixture.store.count == 0)
    #expect(await fixture.failure(TokenGet(account: "work"))?.kind == .loginRequired)
    fixture.configuration.set([])
    _ = try await fixture.call(ConfigReload())
    #expect(await fixture.failure(AccountForget(account: "work"))?.kind == .accountUnknown)
    #expect(fixture.ready.asked("work") == nil)
  }

  @Test("lists come worst first, idle accounts last, and a page at a time")
  func pages() async throws {
    let fixture = AgentFixture(
      (0..<7).map { index in
        AccountDefinition.browser.changed { ($0.name, $0.keep) = ("account-\(index)", .onDemand) }
      })
    try await fixture.logIn("account-3")
    fixture.clock.advance(by: 3_601)
    try await fixture.logIn("account-1", request: "two")
    var names: [String] = []
    var after: String?
    repeat {
      let page = try await fixture.call(AccountList(limit: 3, after: after))
      names += page.accounts.map(\.account)
      after = page.next
    } while after != nil
    #expect(names == [0, 2, 4, 5, 6, 1, 3].map { "account-\($0)" })
    #expect(await fixture.failure(AccountList(limit: 0))?.kind == .badRequest)
    #expect(await fixture.failure(AccountList(limit: 501))?.kind == .badRequest)
  }

  @Test("drain waits for the refresh in flight and for its save, and starts nothing more by plan")
  func drain() async throws {
    let fixture = try await AgentFixture.loggedIn()
    fixture.transport.withServer { $0.options.delayMilliseconds[.token] = 5_000 }
    fixture.clock.advance(by: 3_601)
    async let token = fixture.call(TokenGet(account: "work"))
    try await fixture.clock.sleepers(until: 5)
    let puts = fixture.store.puts
    async let drained: Void = fixture.service.drain(seconds: 60)
    try await fixture.clock.sleepers(until: 60)
    fixture.clock.advance(by: 5)
    await drained
    #expect(fixture.store.puts == puts + 1)
    _ = try await token
    try await eventually("nobody sleeps any more") { fixture.clock.wakes.isEmpty }
  }

  @Test("a drain that the machine slept through leaves a moment to what came meanwhile, and then gives up")
  func drainSleptThrough() async throws {
    let fixture = try await AgentFixture.loggedIn()
    fixture.transport.withServer { $0.options.delayMilliseconds[.token] = 500_000 }
    fixture.clock.advance(by: 3_601)
    async let token: TokenAnswer? = try? fixture.call(TokenGet(account: "work"))
    try await fixture.clock.sleepers(until: 500)
    async let drained: Void = fixture.service.drain(seconds: 60)
    try await fixture.clock.sleepers(until: 60)
    fixture.clock.advance(by: 300)
    try await fixture.clock.sleepers(until: 15)
    fixture.clock.advance(by: 15)
    await drained
    fixture.clock.advance(by: 500)
    _ = await token
  }

  @Test("drain gives up after its time")
  func drainGivesUp() async throws {
    let fixture = try await AgentFixture.loggedIn()
    fixture.transport.withServer { $0.options.delayMilliseconds[.token] = 500_000 }
    fixture.clock.advance(by: 3_601)
    async let token: TokenAnswer? = try? fixture.call(TokenGet(account: "work"))
    try await fixture.clock.sleepers(until: 500)
    async let drained: Void = fixture.service.drain(seconds: 60)
    async let other: Void = fixture.service.drain(seconds: 60)
    try await eventually("both wait") {
      fixture.clock.wakes.filter { abs($0 - fixture.clock.now().bootSeconds - 60) < 1 }.count == 2
    }
    fixture.clock.advance(by: 60)
    await drained
    await other
    fixture.clock.advance(by: 500)
    _ = await token
  }
}
