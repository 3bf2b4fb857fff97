import AgentCore
import AgentTestSupport
import AgentWire
import DevAuthorizationServer
import OAuthProtocol
import Testing
import TokenVault

@Suite("token.get over the development server")
struct TokenServiceTests {
  private func loggedIn() async throws -> AgentFixture {
    let fixture = AgentFixture()
    try await fixture.logIn()
    return fixture
  }

  @Test("a hundred callers of an expired token cause one refresh, and all get its result")
  func oneRefresh() async throws {
    let fixture = try await loggedIn()
    fixture.clock.advance(by: 3_601)
    let tokens = await withTaskGroup(of: String?.self) { group in
      for _ in 0..<100 { group.addTask { try? await fixture.call(TokenGet(account: "work")).accessToken } }
      return await group.reduce(into: [String?]()) { $0.append($1) }
    }
    #expect(tokens.count == 100)
    #expect(Set(tokens).count == 1)
    #expect(tokens.allSatisfy { $0 != nil })
    #expect(fixture.refreshes == 1)
  }

  @Test("a token in use is refreshed by plan, before it ends, and nobody has to ask")
  func plan() async throws {
    let fixture = try await loggedIn()
    let first = try await fixture.call(TokenGet(account: "work")).accessToken
    for round in 1...3 {
      try await eventually("a wake is set") {
        fixture.clock.wakes.contains { (2_339...3_061).contains($0 - fixture.clock.now().bootSeconds) }
      }
      fixture.clock.advance(by: 3_061)
      try await eventually("refresh \(round)") { fixture.refreshes == round }
      await fixture.service.idle(seconds: 60)
    }
    let token = try await fixture.call(TokenGet(account: "work")).accessToken
    #expect(token != first)
    #expect(await fixture.isGood(token))
    #expect(fixture.refreshes == 3)
  }

  @Test("an idle agent sends nothing and wakes for nothing")
  func idle() async throws {
    let fixture = AgentFixture()
    _ = try await fixture.call(AccountList())
    #expect(fixture.clock.wakes.isEmpty)
    #expect(fixture.transport.withServer { $0.requestCount } == 0)
  }

  @Test("a 401: token.reject marks, the ready path says nothing more, and the next who asks gets a new token")
  func reject() async throws {
    let fixture = try await loggedIn()
    let first = try await fixture.call(TokenGet(account: "work"))
    #expect(fixture.ready.token(for: "work", minimumValiditySeconds: nil, at: fixture.clock.now()) != nil)
    let marked = try await fixture.call(
      TokenReject(account: "work", rejected: RejectedToken(fingerprint: first.fingerprint)))
    #expect(marked.result == .marked)
    #expect(fixture.ready.token(for: "work", minimumValiditySeconds: nil, at: fixture.clock.now()) == nil)
    #expect(fixture.refreshes == 0)
    let second = try await fixture.call(TokenGet(account: "work"))
    #expect(second.fingerprint != first.fingerprint)
    let late = try await fixture.call(TokenGet(account: "work", rejected: RejectedToken(token: first.accessToken)))
    #expect(late.accessToken == second.accessToken)
    #expect(fixture.refreshes == 1)
    let superseded = try await fixture.call(
      TokenReject(account: "work", rejected: RejectedToken(token: first.accessToken)))
    #expect(superseded.result == .superseded)
  }

  @Test("fifty callers with the same 401 cost one refresh")
  func storm() async throws {
    let fixture = try await loggedIn()
    let first = try await fixture.call(TokenGet(account: "work"))
    let tokens = await withTaskGroup(of: String?.self) { group in
      for _ in 0..<50 {
        group.addTask {
          try? await fixture.call(
            TokenGet(account: "work", rejected: RejectedToken(fingerprint: first.fingerprint))
          ).accessToken
        }
      }
      return await group.reduce(into: [String?]()) { $0.append($1) }
    }
    #expect(Set(tokens).count == 1)
    #expect(fixture.refreshes == 1)
  }

  @Test("each waiter keeps its own time-out, and one that leaves does not end the refresh")
  func timeouts() async throws {
    let fixture = try await loggedIn()
    fixture.transport.withServer { $0.options.delayMilliseconds[.token] = 20_000 }
    fixture.clock.advance(by: 3_601)
    async let hasty = fixture.failure(TokenGet(account: "work", timeoutMilliseconds: 2_000))
    async let patient = fixture.call(TokenGet(account: "work", timeoutMilliseconds: 40_000))
    try await fixture.clock.sleepers(until: 2)
    try await fixture.clock.sleepers(until: 20)
    fixture.clock.advance(by: 2)
    #expect(await hasty?.kind == .timeout)
    fixture.clock.advance(by: 18)
    let token = try await patient.accessToken
    #expect(await fixture.isGood(token))
    #expect(fixture.refreshes == 1)
  }

  @Test("who was answered leaves no sleeper behind")
  func noSleepers() async throws {
    let fixture = try await loggedIn()
    for _ in 0..<20 {
      fixture.clock.advance(by: 3_601)
      _ = try await fixture.call(TokenGet(account: "work", timeoutMilliseconds: 555_000))
    }
    let until = fixture.clock.now().bootSeconds + 555
    try await eventually("only the plan's wake is left") {
      !fixture.clock.wakes.contains { abs($0 - until) < 1 } && fixture.clock.wakes.count <= 1
    }
  }

  @Test("the server's refusal to answer is told at once, with the time of the next attempt, and passes")
  func unavailable() async throws {
    let fixture = try await loggedIn()
    fixture.transport.withServer { $0.script(.token, .answer(status: 503, headers: [HTTPField("Retry-After", "7")])) }
    fixture.clock.advance(by: 3_601)
    let failure = await fixture.failure(TokenGet(account: "work"))
    #expect(failure?.kind == .unavailable)
    #expect(failure?.retryAfterMilliseconds == 7_000)
    #expect(await fixture.failure(TokenGet(account: "work"))?.kind == .unavailable)
    #expect(fixture.refreshes == 1)
    fixture.clock.advance(by: 7)
    #expect(try await fixture.isGood(fixture.call(TokenGet(account: "work")).accessToken))
  }

  @Test("an answer lost on its way: the retry recovers where the server is lenient, and says so where it is not")
  func ambiguous() async throws {
    for (rotation, isRecovered) in [(DevRotation.grace(seconds: 60), true), (.strict, false)] {
      let fixture = try await loggedIn()
      fixture.transport.withServer {
        $0.options.rotation = rotation
        $0.script(.token, .actThenDrop)
      }
      fixture.clock.advance(by: 3_601)
      async let asked: TokenAnswer? = try? fixture.call(TokenGet(account: "work"))
      // Until then another sleep may end at about that time.
      try await eventually("the retry is planned") {
        try await fixture.call(AccountShow(account: "work")).summary.state == .retrying
      }
      try await fixture.clock.sleepers(until: 1)
      fixture.clock.advance(by: 1.3)
      #expect((await asked != nil) == isRecovered)
      #expect(fixture.refreshes == 2)
      if !isRecovered { #expect(await fixture.failure(TokenGet(account: "work"))?.kind == .loginRequired) }
      #expect(fixture.refreshes == 2)
    }
  }

  @Test("scopes and resources that the account does not list are not asked for")
  func notPermitted() async throws {
    let fixture = AgentFixture([.browser.changed { $0.allowedScope = ["openid"] }])
    try await fixture.logIn()
    #expect(await fixture.failure(TokenGet(account: "work", scope: ["email"]))?.kind == .notPermitted)
    #expect(await fixture.failure(TokenGet(account: "work", resource: ["https://a.example"]))?.kind == .notPermitted)
    // Nothing is never everything.
    for empty in [[], [""]] {
      for asked in [
        TokenGet(account: "work", scope: empty), TokenGet(account: "work", resource: empty),
        TokenGet(account: "work", audience: empty),
      ] { #expect(await fixture.failure(asked)?.kind == .badRequest) }
    }
    let narrow = try await fixture.call(TokenGet(account: "work", scope: ["read"]))
    #expect(narrow.scope == ["read"])
    let whole = try await fixture.call(TokenGet(account: "work", scope: ["write", "read"]))
    #expect(whole.scope == ["read", "write"])
    #expect(fixture.refreshes == 1)
    #expect(await fixture.failure(TokenGet(account: "work", scope: ["openid"]))?.kind == .serverRefused)
    #expect(try await fixture.call(TokenGet(account: "work")).accessToken == whole.accessToken)
  }

  @Test("what the login was granted may be asked for, though the file names no scope")
  func granted() async throws {
    let fixture = AgentFixture([.browser.changed { $0.scope = [] }])
    fixture.transport.withServer { $0.options.defaultScope = ["read", "write"] }
    try await fixture.logIn()
    let whole = try await fixture.call(TokenGet(account: "work"))
    let one = try #require(whole.scope.first)
    #expect(try await fixture.call(TokenGet(account: "work", scope: [one])).scope == [one])
    #expect(try await fixture.call(TokenGet(account: "work", scope: whole.scope)).accessToken == whole.accessToken)
    let failure = await fixture.failure(TokenGet(account: "work", scope: ["none-such"]))
    #expect(failure?.kind == .notPermitted && failure?.hint?.text.contains("--add-scope ") == true)
  }

  @Test(
    "bounds are kept, with the parameter named",
    arguments: [
      TokenGet(account: "work", minValiditySeconds: -1), TokenGet(account: "work", minValiditySeconds: 86_401),
      TokenGet(account: "work", timeoutMilliseconds: 0), TokenGet(account: "work", timeoutMilliseconds: 600_001),
      TokenGet(account: "work", rejected: RejectedToken(fingerprint: "sha256:zz")),
      TokenGet(account: "work", rejected: RejectedToken(token: "")),
      TokenGet(account: "work", url: "ftp://127.0.0.1/"),
    ])
  func bounds(request: TokenGet) async throws {
    let fixture = AgentFixture()
    #expect(await fixture.failure(request)?.kind == .badRequest)
  }

  @Test("the account is found by its URL's exact origin, and refused to every other")
  func hosts() async throws {
    let fixture = try await loggedIn()
    let found = try await fixture.call(TokenGet(url: "http://127.0.0.1:8080/repo.git"))
    #expect(found.account == "work")
    #expect(found.matchedHost == "http://127.0.0.1:8080")
    #expect(await fixture.failure(TokenGet(url: "http://127.0.0.1:9090/"))?.kind == .accountUnknown)
    #expect(await fixture.failure(TokenGet(account: "work", url: "http://127.0.0.1:9090/"))?.kind == .notPermitted)
    #expect(await fixture.failure(TokenGet(account: "nobody"))?.kind == .accountUnknown)
    #expect(try await fixture.call(TokenGet()).account == "work")
    fixture.configuration.set([.browser, .browser.changed { $0.name = "home" }])
    _ = try await fixture.call(ConfigReload())
    #expect(try await fixture.call(TokenGet()).account == "work", "one that was never logged in is in nobody's way")
  }
}
