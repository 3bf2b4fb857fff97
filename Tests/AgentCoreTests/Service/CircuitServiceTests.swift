import AgentTestSupport
import AgentWire
import DevAuthorizationServer
import OAuthProtocol
import OAuthTerms
import Testing

@testable import AgentCore

extension CredentialService {
  /// What each account was told last of its server.
  fileprivate var holds: [String: ServerHold?] { accounts.mapValues(\.machine.hold) }

  /// How many wait for a place in the same turn of the actor in which a request of each of these has failed.
  fileprivate func waitingAfterFailures(of names: some Sequence<String>) -> Int {
    for name in names {
      if let route = accounts[name]?.server?.route { note(.failure("refused"), of: route, for: name) }
    }
    return waitingForPlaces
  }
}

@Suite("Many accounts of one dead server")
struct CircuitServiceTests {
  private static let names = (0..<20).map { "a\($0)" }

  /// Twenty accounts that log in by themselves, their tokens over.
  private func fixture() async throws -> AgentFixture {
    let fixture = AgentFixture(
      Self.names.map { name in
        AccountDefinition.browser.changed {
          $0.name = name
          $0.file = "/etc/accounts.d/\(name).toml"
          $0.grant = .clientCredentials
          $0.clientID = "dev-machine"
          $0.tokenEndpoint = "http://127.0.0.1:8080/token"
          $0.revocationEndpoint = "http://127.0.0.1:8080/revoke"
          $0.keep = .onDemand
        }
      })
    for name in Self.names {
      _ = try await fixture.call(SecretSet(account: name, kind: .clientSecret, value: "dev-machine-secret"))
      try await fixture.logIn(name)
    }
    fixture.clock.advance(by: 3_700)
    return fixture
  }

  private func fail(_ fixture: AgentFixture, times: Int) {
    fixture.transport.withServer { $0.script(.token, .refuse, times: times) }
  }

  /// Everybody asks; how many were sent on to the server meanwhile.
  private func askAll(_ fixture: AgentFixture) async -> (sent: Int, failures: [AgentFailure?]) {
    let before = fixture.transport.withServer { $0.scriptsLeft(.token) }
    let failures = await withTaskGroup(of: AgentFailure?.self) { group in
      for name in Self.names { group.addTask { await fixture.failure(TokenGet(account: name)) } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    return (before - fixture.transport.withServer { $0.scriptsLeft(.token) }, failures)
  }

  @Test("the first round opens the circuit, later ones ask once, and one answer opens the way for all")
  func opens() async throws {
    let fixture = try await fixture()
    fail(fixture, times: 200)
    let first = await askAll(fixture)
    #expect(first.failures.allSatisfy { $0?.kind == .unavailable })
    #expect(await fixture.service.conditions.first?.message.contains("127.0.0.1:8080 cannot be reached") == true)
    fixture.clock.advance(by: 0.1)
    let closed = await askAll(fixture)
    #expect(closed.sent == 0)
    #expect(closed.failures.allSatisfy { ($0?.retryAfterMilliseconds ?? 0) > 0 })
    for _ in 0..<5 {
      fixture.clock.advance(by: 6)
      let later = await askAll(fixture)
      #expect(later.sent == 1, "one account asks, the others take its word")
      #expect(later.failures.allSatisfy { $0?.kind == .unavailable })
    }
    fixture.transport.withServer { $0.clearScripts() }
    fixture.clock.advance(by: 6)
    #expect(await askAll(fixture).failures.allSatisfy { $0 == nil })
    #expect(await fixture.service.conditions.isEmpty)
  }

  @Test("a try that fails is told to nobody who does not wait for it, so a failure costs the same with any number")
  func failureOfOne() async throws {
    let fixture = try await fixture()
    fail(fixture, times: 200)
    for _ in 0..<6 {
      _ = await askAll(fixture)
      fixture.clock.advance(by: 6)
    }
    try await eventually("nobody is looked at") { await fixture.service.holds.values.allSatisfy { $0 != .probing } }
    let before = await fixture.service.holds
    #expect(await fixture.failure(TokenGet(account: "a0"))?.kind == .unavailable)
    let after = await fixture.service.holds
    #expect(after.filter { before[$0.key] != $0.value }.keys.sorted() == ["a0"])
  }

  @Test("who waits for a place at a server that turns out to be dead leaves the queue at once, and is told")
  func leavesTheQueue() async throws {
    let fixture = try await fixture()
    let held = try await fixture.service.takeTheOnlyPlace()
    let asking = Self.names.map { name in Task { await fixture.failure(TokenGet(account: name)) } }
    try await eventually("all wait") { await fixture.service.waitingForPlaces == Self.names.count }
    #expect(await fixture.service.waitingAfterFailures(of: Self.names.prefix(ServerCircuit.accounts)) == 0)
    for task in asking { #expect(await task.value?.kind == .unavailable) }
    await fixture.service.giveBack(held)
  }

  @Test("a login asks a server that cannot be reached all the same, and its answer opens the way for all")
  func loginCloses() async throws {
    let fixture = try await fixture()
    fail(fixture, times: 200)
    _ = await askAll(fixture)
    #expect(await fixture.failure(TokenGet(account: "a19"))?.kind == .unavailable)
    fixture.transport.withServer { $0.clearScripts() }
    try await fixture.logIn("a3", request: "again")
    #expect(await fixture.service.conditions.isEmpty)
  }

  @Test("logins that fail open it")
  func loginsOpen() async throws {
    let fixture = try await fixture()
    fail(fixture, times: 200)
    for name in Self.names.prefix(ServerCircuit.accounts) {
      await #expect(throws: AgentFailure.self) { try await fixture.logIn(name, request: "again") }
    }
    #expect(await askAll(fixture).sent == 0)
  }

  @Test("revocations that could not be told are tried by one account for all")
  func revocations() async throws {
    let fixture = try await fixture()
    fixture.transport.withServer { $0.script(.revoke, .refuse, times: 200) }
    func left() -> Int { fixture.transport.withServer { $0.scriptsLeft(.revoke) } }
    for name in Self.names { _ = try await fixture.call(Logout(account: name)) }
    #expect(left() == 180, "a person asked for each")
    func pass() async throws {
      try await eventually("all wait") {
        await fixture.service.awaitedCount == Self.names.count && !fixture.clock.wakes.isEmpty
      }
      fixture.clock.advance(by: 400)
    }
    for round in 1...5 {
      try await pass()
      try await eventually("one asks") { left() == 180 - round }
    }
    fixture.transport.withServer { $0.clearScripts() }
    try await pass()
    try await eventually("all are told") {
      fixture.transport.withServer { $0.requests(to: .revoke) } == 20 + 5 + 20
    }
    #expect(await fixture.service.conditions.isEmpty)
  }

  @Test("four accounts never open it, and another server's accounts are not concerned")
  func others() async throws {
    let fixture = try await fixture()
    fail(fixture, times: 8)
    for _ in 0..<2 {
      for name in Self.names.prefix(4) {
        #expect(await fixture.failure(TokenGet(account: name))?.kind == .unavailable)
      }
      fixture.clock.advance(by: 6)
    }
    #expect(await fixture.service.conditions.isEmpty)
    #expect(await fixture.failure(TokenGet(account: "a7")) == nil)
  }
}
