import AgentCore
import AgentTestSupport
import AgentWire
import DevAuthorizationServer
import OAuthProtocol
import Testing

@Suite("The life of a login: shared, waited for, cancelled, over in time")
struct LoginSessionTests {
  @Test("one pending login per account, shared by all callers, and each request id may be repeated")
  func shared() async throws {
    let bench = Bench()
    async let one = bench.start(request: "a")
    async let two = bench.start(request: "b")
    let (first, second) = try await (one, two)
    #expect(first.loginID == second.loginID)
    #expect(bench.redirects.open.count == 1)
    _ = try await bench.follow(try await bench.location(first))
    #expect(try await bench.start(request: "a").loginID == first.loginID)
    #expect(try await bench.start(request: "b").loginID == first.loginID, "the caller who joined may repeat, too")
    #expect(try await bench.start(request: "c").loginID != first.loginID)
  }

  @Test("whoever agreed to a login at one server joins none at another")
  func sharedAsAgreed() async throws {
    let bench = Bench()
    _ = try await bench.logIn()
    func preview(_ host: String) async throws -> String? {
      bench.configuration.set([.browser.changed { $0.hosts = ["http://127.0.0.1:8080", host] }])
      _ = try await bench.call(ConfigReload())
      return try await bench.call(AccountAccept(account: "work", dryRun: true, login: true)).bindingDigest
    }
    let agreed = try await preview("http://127.0.0.1:9090")
    let other = try await preview("http://127.0.0.1:7070")
    func start(_ request: String, _ digest: String?) -> LoginStart {
      LoginStart(requestID: request, account: "work", bindingDigest: digest)
    }
    let pending = try await bench.call(start("two", other))
    #expect(await bench.failure(start("three", agreed))?.kind == .definitionChanged)
    #expect(try await bench.call(start("four", other)).loginID == pending.loginID)
    #expect(try await bench.call(start("five", nil)).loginID == pending.loginID)
  }

  @Test("no more logins wait for a browser than there is room for; the next is told, and an end makes room")
  func manyBrowsers() async throws {
    let names = (0...WireLimits.browserLogins).map { "n\($0)" }
    let bench = Bench(names.map { name in .browser.changed { $0.name = name } })
    var last = ""
    for name in names.dropLast() { last = try await bench.start(name).loginID }
    let beyond = try #require(names.last)
    #expect(await bench.failure(LoginStart(requestID: "one", account: beyond))?.kind == .overloaded)
    #expect(bench.redirects.open.count == WireLimits.browserLogins)
    _ = try await bench.call(LoginCancel(loginID: last))
    _ = try await bench.start(beyond)
  }

  @Test("cancel ends it for everybody who waits, and closes the listener")
  func cancel() async throws {
    let bench = Bench()
    let started = try await bench.start()
    async let waiting = bench.failure(LoginWait(loginID: started.loginID))
    _ = try await bench.call(LoginCancel(loginID: started.loginID))
    #expect(await waiting?.kind == .loginCancelled)
    try await eventually("the listener closes") { bench.redirects.open.isEmpty }
    #expect(try await bench.start(request: "two").loginID != started.loginID)
  }

  @Test("tokens that arrive after a cancel are not kept, and the server is told that they are not wanted")
  func cancelDuringExchange() async throws {
    let bench = Bench()
    bench.transport.withServer { $0.options.delayMilliseconds[.token] = 2_000 }
    let started = try await bench.start()
    let location = try await bench.location(started)
    async let page = bench.follow(location)
    try await bench.clock.sleepers(until: 2)
    _ = try await bench.call(LoginCancel(loginID: started.loginID))
    bench.clock.advance(by: 2)
    #expect(try await page != .loggedIn)
    #expect(bench.store.count == 0)
    #expect(bench.transport.withServer { $0.requests(to: .revoke) } == 1)
    #expect(await bench.failure(TokenGet(account: "work"))?.kind == .loginRequired)
  }

  @Test("the window ends after five minutes")
  func window() async throws {
    let bench = Bench()
    let started = try await bench.start()
    async let waiting = bench.failure(LoginWait(loginID: started.loginID, timeoutMilliseconds: 600_000))
    try await bench.clock.sleepers(until: 300)
    try await bench.clock.sleepers(until: 600)
    bench.clock.advance(by: 300)
    #expect(await waiting?.kind == .loginCancelled)
  }

  @Test("the end of the window does not take a code that is being exchanged with it")
  func windowDuringExchange() async throws {
    let bench = Bench()
    bench.transport.withServer { $0.options.delayMilliseconds[.token] = 20_000 }
    bench.transport.withServer { $0.options.codeLifeSeconds = 600 }
    let started = try await bench.start()
    let location = try await bench.location(started)
    try await bench.clock.sleepers(until: 300)
    bench.clock.advance(by: 290)
    async let page = bench.follow(location)
    try await bench.clock.sleepers(until: 20)
    bench.clock.advance(by: 20)
    #expect(try await page == .loggedIn)
  }

  @Test("login.wait answers pending when its time is over, and leaves no sleeper behind when the login ends")
  func waitTimesOut() async throws {
    let bench = Bench()
    let started = try await bench.start()
    async let waiting = bench.call(LoginWait(loginID: started.loginID, timeoutMilliseconds: 5_000))
    try await bench.clock.sleepers(until: 5)
    bench.clock.advance(by: 5)
    #expect(try await waiting.state == .pending)
    async let again = bench.call(LoginWait(loginID: started.loginID, timeoutMilliseconds: 77_000))
    try await bench.clock.sleepers(until: 77)
    let until = bench.clock.now().bootSeconds + 77
    _ = try await bench.follow(try await bench.location(started))
    #expect(try await again.state == .complete)
    try await eventually("nobody sleeps for it") { !bench.clock.wakes.contains { abs($0 - until) < 0.1 } }
  }

  @Test("a redirect port that is taken is named")
  func portTaken() async throws {
    let bench = Bench([.browser.changed { $0.redirectURI = "http://127.0.0.1:8765/callback" }])
    bench.redirects.take(8_765)
    let failure = await bench.failure(LoginStart(requestID: "one", account: "work"))
    #expect(failure?.kind == .unavailable)
    #expect(failure?.message.contains("8765") == true)
  }

  @Test("a login whose grant cannot be saved fails, and a later one works")
  func cannotSave() async throws {
    let bench = Bench()
    bench.store.fail(put: 1)
    let started = try await bench.start()
    _ = try await bench.follow(try await bench.location(started))
    #expect(await bench.failure(LoginWait(loginID: started.loginID))?.kind == .storageFailed)
    #expect(try await bench.logIn(request: "two").state == .complete)
  }

  @Test("token.get with interaction wait is answered by the login under way")
  func interaction() async throws {
    let bench = Bench()
    let started = try await bench.start()
    async let waiting = bench.call(TokenGet(account: "work", interaction: .wait, timeoutMilliseconds: 99_000))
    try await bench.clock.sleepers(until: 99)
    #expect(await bench.failure(TokenGet(account: "work"))?.kind == .loginRequired)
    _ = try await bench.follow(try await bench.location(started))
    #expect(try await bench.isGood(waiting.accessToken))
  }
}
