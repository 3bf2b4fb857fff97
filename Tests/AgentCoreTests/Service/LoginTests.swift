import AgentCore
import AgentTestSupport
import AgentWire
import DevAuthorizationServer
import OAuthProtocol
import Testing

@Suite("Login by browser")
struct BrowserLoginTests {
  @Test("the browser's redirect ends the login, the grant is durable, and the listener closes")
  func browser() async throws {
    let bench = Bench()
    let started = try await bench.start()
    #expect(started.kind == .browser)
    #expect(started.redirectURI?.hasPrefix("http://127.0.0.1:") == true)
    #expect(bench.redirects.open.count == 1)
    #expect(try await bench.follow(try await bench.location(started)) == .loggedIn)
    let progress = try await bench.call(LoginWait(loginID: started.loginID))
    #expect(progress.state == .complete)
    #expect(progress.renewable == true)
    #expect(progress.scope == ["read", "write"])
    #expect(progress.missingScope == nil)
    let token = try await bench.call(TokenGet(account: "work"))
    #expect(await bench.isGood(token.accessToken))
    #expect(bench.store.count == 1)
    try await eventually("the listener closes") { bench.redirects.open.isEmpty }
    let again = try await bench.restarted().call(TokenGet(account: "work"))
    #expect(again.accessToken == token.accessToken)
    #expect(again.accountID == token.accountID)
  }

  @Test("wrong state, other paths and other methods are turned away, and the login goes on")
  func strangers() async throws {
    let bench = Bench()
    let started = try await bench.start()
    let location = try await bench.location(started)
    let base = try #require(started.redirectURI)
    #expect(try await bench.follow(base + "?code=abc&state=wrong") == .ignored)
    #expect(try await bench.follow(base + "?code=abc") == .ignored)
    #expect(try await bench.follow(base + "?error=access_denied&state=wrong") == .ignored)
    #expect(try await bench.follow(base.replacing("/callback", with: "/favicon.ico")) == .notFound)
    #expect(try await bench.follow(location, method: "POST") == .methodNotAllowed)
    _ = try await bench.follow(location, method: "HEAD")
    #expect(bench.tokenRequests("authorization_code") == 0)
    #expect(try await bench.follow(location) == .loggedIn)
  }

  @Test("a second hit while the code is exchanged is turned away, and the code is sent once")
  func secondHit() async throws {
    let bench = Bench()
    bench.transport.withServer { $0.options.delayMilliseconds[.token] = 2_000 }
    let started = try await bench.start()
    let location = try await bench.location(started)
    async let first = bench.follow(location)
    try await bench.clock.sleepers(until: 2)
    #expect(try await bench.follow(location) == .ignored)
    bench.clock.advance(by: 2)
    #expect(try await first == .loggedIn)
    #expect(bench.tokenRequests("authorization_code") == 1)
    let replay = try await bench.follow(location)
    #expect(replay == nil || replay == .ignored)
    #expect(bench.tokenRequests("authorization_code") == 1)
  }

  @Test("a server that says no ends the login with its words")
  func denied() async throws {
    let bench = Bench()
    let started = try await bench.start()
    let good = try await bench.location(started)
    let state = try #require(good.split(separator: "&").first { $0.hasPrefix("state=") })
    let page = try await bench.follow(
      "\(try #require(started.redirectURI))?error=access_denied&\(state)&iss=http%3A%2F%2F127.0.0.1%3A8080")
    guard case .refused = page else {
      Issue.record("\(String(describing: page))")
      return
    }
    let failure = await bench.failure(LoginWait(loginID: started.loginID))
    #expect(failure?.kind == .serverRefused)
    #expect(failure?.oauthError == "access_denied")
  }

  /// The redirect of this login with another code: whoever knows the `state` can make one.
  private func forged(_ bench: Bench, _ started: LoginStarted) async throws -> String {
    let good = try await bench.location(started)
    let state = try #require(good.split(whereSeparator: { "?&".contains($0) }).first { $0.hasPrefix("state=") })
    return "\(try #require(started.redirectURI))?code=forged&\(state)&iss=http%3A%2F%2F127.0.0.1%3A8080"
  }

  @Test("a code that the server refuses is told to who waits, and the login goes on with the true one")
  func badCode() async throws {
    let bench = Bench()
    let started = try await bench.start()
    let bad = try await forged(bench, started)
    async let waiting = bench.call(LoginWait(loginID: started.loginID))
    try await bench.clock.sleepers(until: 30)
    guard case .codeRefused(let reason) = try await bench.follow(bad) else {
      Issue.record("the login does not go on")
      return
    }
    #expect(reason.contains("invalid_grant"))
    let progress = try await waiting
    #expect(progress.state == .pending)
    #expect(progress.notice?.contains("invalid_grant") == true)
    let pasted = await bench.failure(LoginComplete(loginID: started.loginID, redirectURL: bad))
    #expect(pasted?.kind == .badRequest)
    #expect(pasted?.oauthError == "invalid_grant")
    #expect(try await bench.follow(try await bench.location(started)) == .loggedIn)
    #expect(try await bench.call(LoginWait(loginID: started.loginID)).state == .complete)
  }

  @Test("the fifth refused code ends the login; so does the end of the window, with the server's words")
  func badCodes() async throws {
    let bench = Bench()
    let started = try await bench.start()
    let bad = try await forged(bench, started)
    for _ in 1..<5 { _ = try await bench.follow(bad) }
    guard case .refused = try await bench.follow(bad) else {
      Issue.record("a sixth code would be tried")
      return
    }
    #expect(bench.tokenRequests("authorization_code") == 5)
    let failure = await bench.failure(LoginWait(loginID: started.loginID))
    #expect(failure?.kind == .serverRefused)
    #expect(failure?.oauthError == "invalid_grant")
    #expect(bench.store.count == 0)

    let second = try await bench.start(request: "two")
    _ = try await bench.follow(try await forged(bench, second))
    async let waiting = bench.failure(LoginWait(loginID: second.loginID, timeoutMilliseconds: 600_000))
    try await bench.clock.sleepers(until: 600)
    bench.clock.advance(by: 300)
    #expect(await waiting?.oauthError == "invalid_grant")
  }

  @Test("a client that is not accepted ends the login at once: no other code would help")
  func badClient() async throws {
    let bench = Bench()
    let started = try await bench.start()
    bench.transport.withServer {
      $0.script(.token, .answer(status: 401, body: #"{"error":"invalid_client"}"#))
    }
    guard case .refused = try await bench.follow(try await bench.location(started)) else {
      Issue.record("it goes on")
      return
    }
    #expect(await bench.failure(LoginWait(loginID: started.loginID))?.kind == .clientRejected)
  }

  @Test(
    "a server that wants more than a plain request is refused by name, and the way by code is told",
    arguments: [
      (#""require_pushed_authorization_requests":true"#, "RFC 9126"),
      (#""require_signed_request_object":true"#, "RFC 9101"),
      (#""code_challenge_methods_supported":["plain"]"#, "S256"),
    ])
  func obstacles(member: String, named: String) async throws {
    let bench = Bench()
    let base = "http://127.0.0.1:8080"
    func serve(_ more: String) {
      bench.transport.withServer {
        $0.script(
          .metadata,
          .answer(
            status: 200,
            body:
              #"{"issuer":"\#(base)","token_endpoint":"\#(base)/token","authorization_endpoint":"\#(base)/authorize","#
              + #""device_authorization_endpoint":"\#(base)/device_authorization",\#(more)}"#))
      }
    }
    serve(member)
    let failure = await bench.failure(LoginStart(requestID: "one", account: "work"))
    #expect(failure?.kind == .configInvalid)
    #expect(failure?.message.contains(named) == true)
    #expect(failure?.hint?.contains("oauthctl login work --device") == true)
    #expect(bench.redirects.open.isEmpty)
    serve(member)
    #expect(try await bench.start(device: true).kind == .device)
  }

  @Test("a pasted redirect URL does what the browser would have done; a wrong one says so and ends nothing")
  func paste() async throws {
    let bench = Bench()
    let started = try await bench.start()
    let location = try await bench.location(started)
    let wrong = await bench.failure(
      LoginComplete(loginID: started.loginID, redirectURL: "http://127.0.0.1/callback?code=a&state=b"))
    #expect(wrong?.kind == .badRequest)
    let progress = try await bench.call(LoginComplete(loginID: started.loginID, redirectURL: location))
    #expect(progress.state == .complete)
    let again = try await bench.call(LoginComplete(loginID: started.loginID, redirectURL: location))
    #expect(again == progress)
    #expect(bench.tokenRequests("authorization_code") == 1)
  }

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

@Suite("Login without a browser")
struct OtherLoginTests {
  private static let device = AccountDefinition.browser.changed {
    $0.clientID = "dev-tv"
    $0.grant = .deviceCode
  }

  private func begin() async throws -> (Bench, LoginStarted) {
    let bench = Bench([Self.device])
    bench.transport.withServer { $0.options.autoConsent = false }
    return (bench, try await bench.start())
  }

  /// The next poll takes place.
  private func poll(_ bench: Bench, after seconds: Double) async throws {
    let before = bench.transport.withServer { $0.requests(to: .token) }
    try await bench.clock.sleepers(until: seconds)
    bench.clock.advance(by: seconds)
    try await eventually("a poll") { bench.transport.withServer { $0.requests(to: .token) } == before + 1 }
  }

  @Test("device: polls at the server's interval, slower after slow_down and lost answers, and ends with the tokens")
  func device() async throws {
    let (bench, started) = try await begin()
    #expect(started.kind == .device)
    let code = try #require(started.userCode)
    try await poll(bench, after: 5)
    bench.transport.withServer {
      $0.script(.token, .answer(status: 400, body: #"{"error":"slow_down"}"#))
    }
    try await poll(bench, after: 5)
    try await poll(bench, after: 10)
    let now = bench.clock.now().wallSeconds
    #expect(bench.transport.withServer { $0.decideDevice(userCode: code, allow: true, at: now) })
    try await poll(bench, after: 10)
    #expect(try await bench.call(LoginWait(loginID: started.loginID)).state == .complete)
    #expect(try await bench.call(TokenGet(account: "work")).account == "work")
  }

  @Test("device: a no is a no, and a code that nobody typed expires")
  func deviceEnds() async throws {
    let (bench, started) = try await begin()
    let now = bench.clock.now().wallSeconds
    let code = try #require(started.userCode)
    #expect(bench.transport.withServer { $0.decideDevice(userCode: code, allow: false, at: now) })
    try await poll(bench, after: 5)
    let denied = await bench.failure(LoginWait(loginID: started.loginID))
    #expect(denied?.oauthError == "access_denied")

    let late = try await bench.start(request: "two")
    async let waiting = bench.failure(LoginWait(loginID: late.loginID, timeoutMilliseconds: 600_000))
    try await bench.clock.sleepers(until: 5)
    bench.clock.advance(by: 601)
    #expect(await waiting?.kind == .loginCancelled)
  }

  @Test("device: cancel stops the polling")
  func deviceCancel() async throws {
    let (bench, started) = try await begin()
    try await bench.clock.sleepers(until: 5)
    _ = try await bench.call(LoginCancel(loginID: started.loginID))
    try await eventually("nobody polls") { bench.clock.wakes.isEmpty }
    #expect(bench.transport.withServer { $0.requests(to: .token) } == 0)
  }

  @Test("client credentials: unattended, and asked for anew by itself")
  func clientCredentials() async throws {
    let bench = Bench([
      .browser.changed {
        $0.clientID = "dev-machine"
        $0.grant = .clientCredentials
      }
    ])
    _ = try await bench.call(SecretSet(account: "work", kind: .clientSecret, value: "dev-machine-secret"))
    let started = try await bench.start()
    #expect(started.kind == .unattended)
    let progress = try await bench.call(LoginWait(loginID: started.loginID))
    #expect(progress.renewable == true)
    let first = try await bench.call(TokenGet(account: "work")).accessToken
    bench.clock.advance(by: 3_601)
    let second = try await bench.call(TokenGet(account: "work")).accessToken
    #expect(second != first)
    #expect(await bench.isGood(second))
  }

  @Test("password: used once and not kept, or kept for logins by itself", arguments: [false, true])
  func password(isKept: Bool) async throws {
    let bench = Bench([
      .browser.changed {
        $0.clientID = "dev-legacy"
        $0.grant = .password
        $0.username = "alice"
      }
    ])
    #expect(await bench.failure(LoginStart(requestID: "zero", account: "work"))?.kind == .configInvalid)
    _ = try await bench.call(SecretSet(account: "work", kind: .password, value: "sesame", keep: isKept))
    try await bench.logIn()
    bench.transport.withServer { $0.revokeGrants() }
    bench.clock.advance(by: 3_601)
    let failure = await bench.failure(TokenGet(account: "work"))
    #expect(failure?.kind == (isKept ? nil : .loginRequired))
    #expect(bench.tokenRequests("password") == (isKept ? 2 : 1))
  }

  @Test("a server that cannot be reached fails the start, and nothing is left behind")
  func unreachable() async throws {
    let bench = Bench()
    bench.transport.withServer { $0.script(.metadata, .refuse, times: 9) }
    #expect(await bench.failure(LoginStart(requestID: "one", account: "work"))?.kind == .unavailable)
    bench.transport.withServer { $0.clearScripts() }
    #expect(try await bench.logIn(request: "two").state == .complete)
  }
}
