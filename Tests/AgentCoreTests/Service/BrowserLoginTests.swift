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
    let fixture = AgentFixture()
    let started = try await fixture.start()
    #expect(started.kind == .browser)
    #expect(started.redirectURI?.hasPrefix("http://127.0.0.1:") == true)
    #expect(fixture.redirects.open.count == 1)
    #expect(try await fixture.follow(try await fixture.location(started)) == .loggedIn)
    let progress = try await fixture.call(LoginWait(loginID: started.loginID))
    #expect(progress.state == .complete)
    #expect(progress.renewable == true)
    #expect(progress.scope == ["read", "write"])
    #expect(progress.missingScope == nil)
    let token = try await fixture.call(TokenGet(account: "work"))
    #expect(await fixture.isGood(token.accessToken))
    #expect(fixture.store.count == 1)
    try await eventually("the listener closes") { fixture.redirects.open.isEmpty }
    let again = try await fixture.restarted().call(TokenGet(account: "work"))
    #expect(again.accessToken == token.accessToken)
    #expect(again.accountID == token.accountID)
  }

  @Test("a login waits for the fixed port that the one before is leaving")
  func portOfBefore() async throws {
    let fixture = AgentFixture([.browser.changed { $0.redirectURI = "http://127.0.0.1:8765/callback" }])
    let redirects = fixture.redirects
    redirects.whileClosing {
      try? await eventually("the next login wants the port") { redirects.refusals > 0 }
      redirects.free(8_765)
    }
    let started = try await fixture.start()
    redirects.take(8_765)
    #expect(try await fixture.follow(try await fixture.location(started)) == .loggedIn)
    #expect(try await fixture.start(request: "two").redirectURI == started.redirectURI)
  }

  @Test("wrong state, other paths and other methods are turned away, and the login goes on")
  func strangers() async throws {
    let fixture = AgentFixture()
    let started = try await fixture.start()
    let location = try await fixture.location(started)
    let base = try #require(started.redirectURI)
    #expect(try await fixture.follow(base + "?code=abc&state=wrong") == .ignored)
    #expect(try await fixture.follow(base + "?code=abc") == .ignored)
    #expect(try await fixture.follow(base + "?error=access_denied&state=wrong") == .ignored)
    #expect(try await fixture.follow(base.replacing("/callback", with: "/favicon.ico")) == .notFound)
    #expect(try await fixture.follow(location, method: "POST") == .methodNotAllowed)
    _ = try await fixture.follow(location, method: "HEAD")
    #expect(fixture.tokenRequests("authorization_code") == 0)
    #expect(try await fixture.follow(location) == .loggedIn)
  }

  @Test("a second hit while the code is exchanged is turned away, and the code is sent once")
  func secondHit() async throws {
    let fixture = AgentFixture()
    fixture.transport.withServer { $0.options.delayMilliseconds[.token] = 2_000 }
    let started = try await fixture.start()
    let location = try await fixture.location(started)
    async let first = fixture.follow(location)
    try await fixture.clock.sleepers(until: 2)
    #expect(try await fixture.follow(location) == .ignored)
    fixture.clock.advance(by: 2)
    #expect(try await first == .loggedIn)
    #expect(fixture.tokenRequests("authorization_code") == 1)
    let replay = try await fixture.follow(location)
    #expect(replay == nil || replay == .ignored)
    #expect(fixture.tokenRequests("authorization_code") == 1)
  }

  @Test("a server that says no ends the login with its words")
  func denied() async throws {
    let fixture = AgentFixture()
    let started = try await fixture.start()
    let good = try await fixture.location(started)
    let state = try #require(good.split(separator: "&").first { $0.hasPrefix("state=") })
    let page = try await fixture.follow(
      "\(try #require(started.redirectURI))?error=access_denied&\(state)&iss=http%3A%2F%2F127.0.0.1%3A8080")
    guard case .refused = page else {
      Issue.record("\(String(describing: page))")
      return
    }
    let failure = await fixture.failure(LoginWait(loginID: started.loginID))
    #expect(failure?.kind == .serverRefused)
    #expect(failure?.oauthError == "access_denied")
  }

  /// The redirect of this login with another code: whoever knows the `state` can make one.
  private func forged(_ fixture: AgentFixture, _ started: LoginStarted) async throws -> String {
    let good = try await fixture.location(started)
    let state = try #require(good.split(whereSeparator: { "?&".contains($0) }).first { $0.hasPrefix("state=") })
    return "\(try #require(started.redirectURI))?code=forged&\(state)&iss=http%3A%2F%2F127.0.0.1%3A8080"
  }

  @Test("a code that the server refuses is told to who waits, and the login goes on with the true one")
  func badCode() async throws {
    let fixture = AgentFixture()
    let started = try await fixture.start()
    let bad = try await forged(fixture, started)
    async let waiting = fixture.call(LoginWait(loginID: started.loginID))
    try await fixture.clock.sleepers(until: 30)
    guard case .codeRefused(let reason) = try await fixture.follow(bad) else {
      Issue.record("the login does not go on")
      return
    }
    #expect(reason.contains("invalid_grant"))
    let progress = try await waiting
    #expect(progress.state == .pending)
    #expect(progress.notice?.contains("invalid_grant") == true)
    let pasted = await fixture.failure(LoginComplete(loginID: started.loginID, redirectURL: bad))
    #expect(pasted?.kind == .badRequest)
    #expect(pasted?.oauthError == "invalid_grant")
    #expect(try await fixture.follow(try await fixture.location(started)) == .loggedIn)
    #expect(try await fixture.call(LoginWait(loginID: started.loginID)).state == .complete)
  }

  @Test("the fifth refused code ends the login; so does the end of the window, with the server's words")
  func badCodes() async throws {
    let fixture = AgentFixture()
    let started = try await fixture.start()
    let bad = try await forged(fixture, started)
    for _ in 1..<5 { _ = try await fixture.follow(bad) }
    guard case .refused = try await fixture.follow(bad) else {
      Issue.record("a sixth code would be tried")
      return
    }
    #expect(fixture.tokenRequests("authorization_code") == 5)
    let failure = await fixture.failure(LoginWait(loginID: started.loginID))
    #expect(failure?.kind == .serverRefused)
    #expect(failure?.oauthError == "invalid_grant")
    #expect(fixture.store.count == 0)

    let second = try await fixture.start(request: "two")
    _ = try await fixture.follow(try await forged(fixture, second))
    async let waiting = fixture.failure(LoginWait(loginID: second.loginID, timeoutMilliseconds: 600_000))
    try await fixture.clock.sleepers(until: 600)
    fixture.clock.advance(by: 300)
    #expect(await waiting?.oauthError == "invalid_grant")
  }

  @Test("a client that is not accepted ends the login at once: no other code would help")
  func badClient() async throws {
    let fixture = AgentFixture()
    let started = try await fixture.start()
    fixture.transport.withServer {
      $0.script(.token, .answer(status: 401, body: #"{"error":"invalid_client"}"#))
    }
    guard case .refused = try await fixture.follow(try await fixture.location(started)) else {
      Issue.record("it goes on")
      return
    }
    #expect(await fixture.failure(LoginWait(loginID: started.loginID))?.kind == .clientRejected)
  }

  @Test(
    "a server that wants more than a plain request is refused by name, and the way by code is told",
    arguments: [
      (#""require_pushed_authorization_requests":true"#, "RFC 9126"),
      (#""require_signed_request_object":true"#, "RFC 9101"),
      (#""code_challenge_methods_supported":["plain"]"#, "S256"),
    ])
  func obstacles(member: String, named: String) async throws {
    let fixture = AgentFixture()
    let base = "http://127.0.0.1:8080"
    func serve(_ more: String) {
      fixture.transport.withServer {
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
    let failure = await fixture.failure(LoginStart(requestID: "one", account: "work"))
    #expect(failure?.kind == .configInvalid)
    #expect(failure?.message.contains(named) == true)
    #expect(failure?.hint?.text.contains("oauthctl login work --device") == true)
    #expect(fixture.redirects.open.isEmpty)
    serve(member)
    #expect(try await fixture.start(device: true).kind == .device)
  }

  @Test("a pasted redirect URL does what the browser would have done; a wrong one says so and ends nothing")
  func paste() async throws {
    let fixture = AgentFixture()
    let started = try await fixture.start()
    let location = try await fixture.location(started)
    let wrong = await fixture.failure(
      LoginComplete(loginID: started.loginID, redirectURL: "http://127.0.0.1/callback?code=a&state=b"))
    #expect(wrong?.kind == .badRequest)
    let progress = try await fixture.call(LoginComplete(loginID: started.loginID, redirectURL: location))
    #expect(progress.state == .complete)
    let again = try await fixture.call(LoginComplete(loginID: started.loginID, redirectURL: location))
    #expect(again == progress)
    #expect(fixture.tokenRequests("authorization_code") == 1)
  }

  @Test("an address without a login's id goes to the login whose state is in it; the first of all ways ends it")
  func addressAlone() async throws {
    let fixture = AgentFixture()
    let started = try await fixture.start()
    let location = try await fixture.location(started)
    let base = try #require(started.redirectURI)
    for wrong in [base + "?code=a&state=b", base, "com.example.app:/cb?code=a&state=b", ""] {
      #expect(await fixture.failure(LoginComplete(redirectURL: wrong))?.kind == .badRequest)
    }
    let progress = try await fixture.call(LoginComplete(redirectURL: location))
    #expect(progress.state == .complete && progress.account == "work")
    #expect(try await fixture.call(LoginWait(loginID: started.loginID)) == progress)
    let again = await fixture.failure(LoginComplete(redirectURL: location))
    #expect(again?.kind == .badRequest && again?.message.contains("has ended") == true)
    #expect(fixture.tokenRequests("authorization_code") == 1)
  }

  @Test("a redirect that is the same at every server needs one that names itself, whenever the login is begun")
  func sharedRedirect() async throws {
    let document = AccountDefinition.browser.changed {
      $0.clientID = "https://www.example.com/oauthctl.json"
      $0.redirectURI = "http://127.0.0.1/callback"
    }
    let fixture = AgentFixture([document])
    #expect(try await fixture.start().kind == .browser)
    let (silent, own) = (
      AgentFixture([document]), AgentFixture([document.changed { $0.redirectURI = "http://127.0.0.1/own/callback" }])
    )
    for fixture in [silent, own] { fixture.transport.withServer { $0.options.sendsIssuer = false } }
    let failure = await silent.failure(LoginStart(requestID: "one", account: "work"))
    #expect(failure?.kind == .configInvalid && failure?.message.contains("RFC 9207") == true)
    #expect(silent.redirects.open.isEmpty)
    #expect(try await own.start().kind == .browser)
  }
}
