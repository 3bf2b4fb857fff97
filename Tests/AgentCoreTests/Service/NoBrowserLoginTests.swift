import AgentCore
import AgentTestSupport
import AgentWire
import DevAuthorizationServer
import OAuthProtocol
import OAuthTerms
import Testing

@Suite("Login without a browser")
struct NoBrowserLoginTests {
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
