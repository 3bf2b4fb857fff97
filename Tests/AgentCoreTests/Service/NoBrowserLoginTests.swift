import AgentTestSupport
import AgentWire
import DevAuthorizationServer
import OAuthProtocol
import OAuthTerms
import Sealing
import Testing

@testable import AgentCore

@Suite("Login without a browser")
struct NoBrowserLoginTests {
  private static let device = AccountDefinition.browser.changed {
    $0.clientID = "dev-tv"
    $0.grant = .deviceCode
  }

  private func begin() async throws -> (AgentFixture, LoginStarted) {
    let fixture = AgentFixture([Self.device])
    fixture.transport.withServer { $0.options.autoConsent = false }
    return (fixture, try await fixture.start())
  }

  /// The next poll takes place.
  private func poll(_ fixture: AgentFixture, after seconds: Double) async throws {
    let before = fixture.transport.withServer { $0.requests(to: .token) }
    try await fixture.clock.sleepers(until: seconds)
    fixture.clock.advance(by: seconds)
    try await eventually("a poll") { fixture.transport.withServer { $0.requests(to: .token) } == before + 1 }
  }

  @Test("device: polls at the server's interval, slower after slow_down and lost answers, and ends with the tokens")
  func device() async throws {
    let (fixture, started) = try await begin()
    #expect(started.kind == .device)
    let code = try #require(started.userCode)
    try await poll(fixture, after: 5)
    fixture.transport.withServer {
      $0.script(.token, .answer(status: 400, body: #"{"error":"slow_down"}"#))
    }
    try await poll(fixture, after: 5)
    try await poll(fixture, after: 10)
    let now = fixture.clock.now().wallSeconds
    #expect(fixture.transport.withServer { $0.decideDevice(userCode: code, allow: true, at: now) })
    try await poll(fixture, after: 10)
    #expect(try await fixture.call(LoginWait(loginID: started.loginID)).state == .complete)
    #expect(try await fixture.call(TokenGet(account: "work")).account == "work")
  }

  @Test("device: a no is a no, and a code that nobody typed expires")
  func deviceEnds() async throws {
    let (fixture, started) = try await begin()
    let now = fixture.clock.now().wallSeconds
    let code = try #require(started.userCode)
    #expect(fixture.transport.withServer { $0.decideDevice(userCode: code, allow: false, at: now) })
    try await poll(fixture, after: 5)
    let denied = await fixture.failure(LoginWait(loginID: started.loginID))
    #expect(denied?.oauthError == "access_denied")

    let late = try await fixture.start(request: "two")
    try await fixture.clock.sleepers(until: 5)
    fixture.clock.advance(by: 601)
    #expect(await fixture.failure(LoginWait(loginID: late.loginID))?.kind == .loginCancelled)
  }

  @Test("device: cancel stops the polling")
  func deviceCancel() async throws {
    let (fixture, started) = try await begin()
    try await fixture.clock.sleepers(until: 5)
    _ = try await fixture.call(LoginCancel(loginID: started.loginID))
    try await eventually("nobody polls") { fixture.clock.wakes.isEmpty }
    #expect(fixture.transport.withServer { $0.requests(to: .token) } == 0)
  }

  @Test("client credentials: unattended, and asked for anew by itself")
  func clientCredentials() async throws {
    let fixture = AgentFixture([
      .browser.changed {
        $0.clientID = "dev-machine"
        $0.grant = .clientCredentials
      }
    ])
    _ = try await fixture.call(SecretSet(account: "work", kind: .clientSecret, value: "dev-machine-secret"))
    let started = try await fixture.start()
    #expect(started.kind == .unattended)
    let progress = try await fixture.call(LoginWait(loginID: started.loginID))
    #expect(progress.renewable == true)
    let first = try await fixture.call(TokenGet(account: "work")).accessToken
    fixture.clock.advance(by: 3_601)
    let second = try await fixture.call(TokenGet(account: "work")).accessToken
    #expect(second != first)
    #expect(await fixture.isGood(second))
  }

  @Test("a client secret that is given for one login is kept where that ends well, and not for another file")
  func secretOnce() async throws {
    let machine = AccountDefinition.browser.changed {
      $0.clientID = "dev-machine"
      $0.grant = .clientCredentials
    }
    let fixture = AgentFixture([machine])
    func give(_ value: String, for secretsID: String? = "given") async throws {
      _ = try await fixture.call(SecretSet(account: "work", kind: .clientSecret, value: value, secretsID: secretsID))
    }
    func logIn(_ request: String, for secretsID: String? = nil) async throws -> AgentFailure? {
      let started = try await fixture.start(request: request, secretsID: secretsID)
      return await fixture.failure(LoginWait(loginID: started.loginID))
    }
    func kept() async -> String? { await fixture.service.keptClientSecret("work") }
    try await give("dev-machine-secret", for: nil)
    try await give("wrong")
    #expect(try await logIn("a", for: "given")?.kind == .clientRejected)
    #expect(await kept() == "dev-machine-secret")
    #expect(try await logIn("b") == nil, "it was for one login")
    let gone = await #expect(throws: AgentFailure.self) { try await logIn("gone", for: "given") }
    #expect(gone?.kind == .loginCancelled && gone?.message.contains("is gone") == true)
    try await give("wrong")
    try await give("dev-machine-secret", for: nil)
    #expect(try await logIn("given", for: "given")?.kind == .clientRejected, "of that login")
    try await give("wrong", for: "of another login")
    #expect(try await logIn("newer") == nil)
    try await give("wrong", for: nil)
    try await give("dev-machine-secret")
    #expect(await kept() == "wrong")
    #expect(try await logIn("c", for: "given") == nil)
    #expect(await kept() == "dev-machine-secret")
    try await give("wrong")
    fixture.configuration.set([machine.changed { $0.hosts += ["api.example"] }])
    _ = try await fixture.call(ConfigReload())
    let agreed = try await fixture.call(
      AccountAccept(account: "work", dryRun: true, login: true, secretsID: "given")
    ).bindingDigest
    var request = LoginStart(requestID: "d", account: "work", bindingDigest: agreed)
    request.secretsID = "given"
    let started = try await fixture.call(request)
    #expect(await fixture.failure(LoginWait(loginID: started.loginID)) == nil)
  }

  @Test("a secret for a login that never began is forgotten when another one is given an hour later")
  func secretOfNobody() async throws {
    let fixture = AgentFixture([
      .browser,
      .browser.changed { $0.name = "other" },
    ])
    func gone() async -> Bool {
      let failure = await #expect(throws: AgentFailure.self) { try await fixture.start(secretsID: "given") }
      return failure?.message.contains("is gone") == true
    }
    func give(_ account: String) async throws {
      _ = try await fixture.call(SecretSet(account: account, kind: .clientSecret, value: "s", secretsID: "given"))
    }
    for (seconds, isGone) in [(SecretsForLogin.lifeSeconds - 1, false), (SecretsForLogin.lifeSeconds, true)] {
      try await give("work")
      fixture.clock.advance(by: seconds)
      try await give("other")
      #expect(await fixture.service.waitsForLogin("work") != isGone)
    }
    #expect(await gone())
  }

  private func passwordFixture() -> AgentFixture {
    AgentFixture([
      .browser.changed {
        $0.clientID = "dev-legacy"
        $0.grant = .password
        $0.username = "alice"
      }
    ])
  }

  @Test("a kept password gives way to one whose login ended well, and to no other")
  func passwordAfterLogin() async throws {
    let fixture = passwordFixture()
    func logIn(_ password: String, keep: Bool = true, request: String) async throws -> AgentFailure? {
      _ = try await fixture.call(
        SecretSet(account: "work", kind: .password, value: password, keep: keep, secretsID: "given"))
      let started = try await fixture.start(request: request, secretsID: "given")
      return await fixture.failure(LoginWait(loginID: started.loginID))
    }
    func kept() async -> String? { await fixture.service.keptPassword("work") }
    _ = try await fixture.call(SecretSet(account: "work", kind: .password, value: "of before", keep: true))
    fixture.transport.withServer {
      $0.script(.token, .answer(status: 400, body: #"{"error":"invalid_grant"}"#), times: 1)
    }
    #expect(try await logIn("wrong", request: "a") != nil)
    #expect(await kept() == "of before")
    #expect(try await logIn("for once", keep: false, request: "b") == nil)
    #expect(await kept() == "of before")
    #expect(try await logIn("sesame", request: "c") == nil)
    #expect(await kept() == "sesame")
  }

  @Test("password: used once and not kept, or kept for logins by itself", arguments: [false, true])
  func password(isKept: Bool) async throws {
    let fixture = passwordFixture()
    #expect(await fixture.failure(LoginStart(requestID: "zero", account: "work"))?.kind == .configInvalid)
    _ = try await fixture.call(
      SecretSet(
        account: "work", kind: .password, value: "sesame", keep: isKept,
        secretsID: isKept ? nil : "given"))
    let started = try await fixture.start(secretsID: isKept ? nil : "given")
    _ = try await fixture.call(LoginWait(loginID: started.loginID))
    fixture.transport.withServer { $0.revokeGrants() }
    fixture.clock.advance(by: 3_601)
    let failure = await fixture.failure(TokenGet(account: "work"))
    #expect(failure?.kind == (isKept ? nil : .loginRequired))
    #expect(fixture.tokenRequests("password") == (isKept ? 2 : 1))
  }

  @Test("a server that cannot be reached fails the start, and nothing is left behind")
  func unreachable() async throws {
    let fixture = AgentFixture()
    fixture.transport.withServer { $0.script(.metadata, .refuse, times: 9) }
    #expect(await fixture.failure(LoginStart(requestID: "one", account: "work"))?.kind == .unavailable)
    fixture.transport.withServer { $0.clearScripts() }
    #expect(try await fixture.logIn(request: "two").state == .complete)
  }
}

extension CredentialService {
  fileprivate func waitsForLogin(_ name: String) -> Bool { accounts[name]?.secretsForLogins.isEmpty == false }

  fileprivate func keptClientSecret(_ name: String) -> String? {
    accounts[name]?.machine.record?.clientSecret?.secret.reveal()
  }

  fileprivate func keptPassword(_ name: String) -> String? {
    accounts[name]?.machine.record?.password?.secret.reveal()
  }
}
