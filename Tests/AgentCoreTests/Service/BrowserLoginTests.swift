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
}
