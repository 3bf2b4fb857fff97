import AgentTestSupport
import AgentWire
import DevAuthorizationServer
import OAuthProtocol
import Testing

@testable import AgentCore

@Suite("The life of a login: shared, waited for, cancelled, over in time")
struct LoginSessionTests {
  @Test("one pending login per account, shared by all callers, and each request id may be repeated")
  func shared() async throws {
    let fixture = AgentFixture()
    async let one = fixture.start(request: "a")
    async let two = fixture.start(request: "b")
    async let again = fixture.start(request: "a")
    let (first, second) = try await (one, two)
    #expect(first.loginID == second.loginID)
    #expect([first.joined, second.joined].count { $0 == true } == 1)
    #expect(try await again.joined == first.joined, "who has begun it is told so, however often it asks")
    #expect(fixture.redirects.open.count == 1)
    _ = try await fixture.follow(try await fixture.location(first))
    #expect(try await fixture.start(request: "a").loginID == first.loginID)
    let repeated = try await fixture.start(request: "b")
    #expect(repeated.loginID == first.loginID, "the caller who joined may repeat, too")
    #expect(repeated.joined == second.joined, "and is told again that it joined")
    #expect(try await fixture.start(request: "c").loginID != first.loginID)
  }

  @Test("whoever agreed to a login at one server joins none at another")
  func sharedAsAgreed() async throws {
    let fixture = AgentFixture()
    _ = try await fixture.logIn()
    func preview(_ host: String) async throws -> String? {
      fixture.configuration.set([.browser.changed { $0.hosts = ["http://127.0.0.1:8080", host] }])
      _ = try await fixture.call(ConfigReload())
      return try await fixture.call(AccountAccept(account: "work", dryRun: true, login: true)).bindingDigest
    }
    let agreed = try await preview("http://127.0.0.1:9090")
    let other = try await preview("http://127.0.0.1:7070")
    func start(_ request: String, _ digest: String?) -> LoginStart {
      LoginStart(requestID: request, account: "work", bindingDigest: digest)
    }
    let pending = try await fixture.call(start("two", other))
    #expect(await fixture.failure(start("three", agreed))?.kind == .definitionChanged)
    #expect(try await fixture.call(start("four", other)).loginID == pending.loginID)
    #expect(try await fixture.call(start("five", nil)).loginID == pending.loginID)
  }

  @Test("a login with other wishes is refused while somebody waits for the first, and takes its place when nobody does")
  func deserted() async throws {
    let fixture = AgentFixture()
    let first = try await fixture.start(request: "a")
    var other = LoginStart(requestID: "b", account: "work")
    other.prompt = "login"
    let refused = await fixture.failure(other)
    #expect(refused?.kind == .loginPending && refused?.hint?.text.hasPrefix("oauthctl login work   # ") == true)
    func wait() -> Task<AgentFailure?, Never> {
      Task { await fixture.failure(LoginWait(loginID: first.loginID, timeoutMilliseconds: 77_000)) }
    }
    let (gone, stays) = (wait(), wait())
    try await eventually("both wait") { await fixture.logins.waiters[first.loginID]?.count == 2 }
    gone.cancel()
    _ = await gone.value
    #expect(await fixture.failure(other)?.kind == .loginPending)
    stays.cancel()
    _ = await stays.value
    #expect(try await fixture.start(request: "c").loginID == first.loginID, "whoever wishes nothing else joins it")
    #expect(try await fixture.call(other).loginID != first.loginID)
    #expect(await fixture.failure(LoginWait(loginID: first.loginID))?.kind == .loginCancelled)
    try await eventually("one listener is left") { fixture.redirects.open.count == 1 }
  }

  @Test("no more logins wait for a browser than there is room for; the next is told, and an end makes room")
  func manyBrowsers() async throws {
    let names = (0...WireLimits.browserLogins).map { "n\($0)" }
    let fixture = AgentFixture(names.map { name in .browser.changed { $0.name = name } })
    var last = ""
    for name in names.dropLast() { last = try await fixture.start(name).loginID }
    let beyond = try #require(names.last)
    #expect(await fixture.failure(LoginStart(requestID: "one", account: beyond))?.kind == .overloaded)
    #expect(fixture.redirects.open.count == WireLimits.browserLogins)
    _ = try await fixture.call(LoginCancel(loginID: last))
    _ = try await fixture.start(beyond)
  }

  @Test("cancel ends it for everybody who waits, and closes the listener")
  func cancel() async throws {
    let fixture = AgentFixture()
    let started = try await fixture.start()
    async let waiting = fixture.failure(LoginWait(loginID: started.loginID))
    _ = try await fixture.call(LoginCancel(loginID: started.loginID))
    #expect(await waiting?.kind == .loginCancelled)
    try await eventually("the listener closes") { fixture.redirects.open.isEmpty }
    #expect(try await fixture.start(request: "two").loginID != started.loginID)
  }

  @Test("tokens that arrive after a cancel are not kept, and the server is told that they are not wanted")
  func cancelDuringExchange() async throws {
    let fixture = AgentFixture()
    fixture.transport.withServer { $0.options.delayMilliseconds[.token] = 2_000 }
    let started = try await fixture.start()
    let location = try await fixture.location(started)
    async let page = fixture.follow(location)
    try await fixture.clock.sleepers(until: 2)
    _ = try await fixture.call(LoginCancel(loginID: started.loginID))
    fixture.clock.advance(by: 2)
    #expect(try await page != .loggedIn)
    #expect(fixture.store.count == 0)
    try await eventually("they are revoked") { fixture.transport.withServer { $0.requests(to: .revoke) } == 1 }
    #expect(await fixture.failure(TokenGet(account: "work"))?.kind == .loginRequired)
  }

  @Test("the window ends after five minutes")
  func window() async throws {
    let fixture = AgentFixture()
    let started = try await fixture.start()
    async let waiting = fixture.failure(LoginWait(loginID: started.loginID, timeoutMilliseconds: 600_000))
    try await fixture.clock.sleepers(until: 300)
    try await fixture.clock.sleepers(until: 600)
    fixture.clock.advance(by: 300)
    #expect(await waiting?.kind == .loginCancelled)
  }

  @Test("the end of the window does not take a code that is being exchanged with it")
  func windowDuringExchange() async throws {
    let fixture = AgentFixture()
    fixture.transport.withServer { $0.options.delayMilliseconds[.token] = 20_000 }
    fixture.transport.withServer { $0.options.codeLifeSeconds = 600 }
    let started = try await fixture.start()
    let location = try await fixture.location(started)
    try await fixture.clock.sleepers(until: 300)
    fixture.clock.advance(by: 290)
    async let page = fixture.follow(location)
    try await fixture.clock.sleepers(until: 20)
    fixture.clock.advance(by: 20)
    #expect(try await page == .loggedIn)
  }

  @Test("login.wait answers pending when its time is over, and leaves no sleeper behind when the login ends")
  func waitTimesOut() async throws {
    let fixture = AgentFixture()
    let started = try await fixture.start()
    async let waiting = fixture.call(LoginWait(loginID: started.loginID, timeoutMilliseconds: 5_000))
    try await fixture.clock.sleepers(until: 5)
    fixture.clock.advance(by: 5)
    #expect(try await waiting.state == .pending)
    async let again = fixture.call(LoginWait(loginID: started.loginID, timeoutMilliseconds: 77_000))
    try await fixture.clock.sleepers(until: 77)
    let until = fixture.clock.now().bootSeconds + 77
    _ = try await fixture.follow(try await fixture.location(started))
    #expect(try await again.state == .complete)
    try await eventually("nobody sleeps for it") { !fixture.clock.wakes.contains { abs($0 - until) < 0.1 } }
  }

  @Test("a redirect port that is taken is named")
  func portTaken() async throws {
    let fixture = AgentFixture([.browser.changed { $0.redirectURI = "http://127.0.0.1:8765/callback" }])
    fixture.redirects.take(8_765)
    let failure = await fixture.failure(LoginStart(requestID: "one", account: "work"))
    #expect(failure?.kind == .unavailable)
    #expect(failure?.message.contains("8765") == true)
  }

  @Test("of several redirect ports the first that is free is taken, and where none is that is told")
  func portsTaken() async throws {
    let fixture = AgentFixture([
      .browser.changed {
        $0.redirectURI = "http://127.0.0.1/callback"
        $0.redirectPorts = [8_400, 8_401, 8_402]
        $0.scope = ["openid"]
      }
    ])
    fixture.redirects.take(8_400)
    let started = try await fixture.start()
    #expect(started.redirectURI == "http://127.0.0.1:8401/callback" && fixture.redirects.open == [8_401])
    #expect(try await fixture.follow(try await fixture.location(started)) == .loggedIn)
    fixture.redirects.take(8_401)
    fixture.redirects.take(8_402)
    let failure = await fixture.failure(LoginStart(requestID: "two", account: "work"))
    #expect(failure?.kind == .unavailable && failure?.message.contains("none of redirect_ports (") == true)
    // The address is pasted, so nobody has to listen.
    let remote = try await fixture.call(LoginStart(requestID: "three", account: "work", remoteBrowser: true))
    #expect(remote.redirectURI == "http://127.0.0.1:8400/callback" && remote.browserURL == nil)
    #expect(remote.listenerProblem?.hasSuffix("port 8402 on 127.0.0.1 is in use") == true)
  }

  @Test("a login whose grant cannot be saved fails, and a later one works")
  func cannotSave() async throws {
    let fixture = AgentFixture()
    fixture.store.fail(put: 1)
    let started = try await fixture.start()
    _ = try await fixture.follow(try await fixture.location(started))
    #expect(await fixture.failure(LoginWait(loginID: started.loginID))?.kind == .storageFailed)
    #expect(try await fixture.logIn(request: "two").state == .complete)
  }

  @Test("token.get with interaction wait is answered by the login under way")
  func interaction() async throws {
    let fixture = AgentFixture()
    let started = try await fixture.start()
    async let waiting = fixture.call(TokenGet(account: "work", interaction: .wait, timeoutMilliseconds: 99_000))
    try await fixture.clock.sleepers(until: 99)
    #expect(await fixture.failure(TokenGet(account: "work"))?.kind == .loginRequired)
    _ = try await fixture.follow(try await fixture.location(started))
    #expect(try await fixture.isGood(waiting.accessToken))
  }
}
