import AgentCore
import AgentTestSupport
import AgentWire
import DevAuthorizationServer
import OAuthProtocol
import OAuthTerms
import Testing

@Suite("Many accounts of one dead server")
struct CircuitServiceTests {
  private static let names = (0..<20).map { "a\($0)" }

  /// Twenty accounts that log in by themselves, their tokens over.
  private func bench() async throws -> Bench {
    let bench = Bench(
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
      _ = try await bench.call(SecretSet(account: name, kind: .clientSecret, value: "dev-machine-secret"))
      try await bench.logIn(name)
    }
    bench.clock.advance(by: 3_700)
    return bench
  }

  private func fail(_ bench: Bench, times: Int) {
    bench.transport.withServer { $0.script(.token, .refuse, times: times) }
  }

  /// Everybody asks; how many were sent on to the server meanwhile.
  private func askAll(_ bench: Bench) async -> (sent: Int, failures: [AgentFailure?]) {
    let before = bench.transport.withServer { $0.scriptsLeft(.token) }
    let failures = await withTaskGroup(of: AgentFailure?.self) { group in
      for name in Self.names { group.addTask { await bench.failure(TokenGet(account: name)) } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    return (before - bench.transport.withServer { $0.scriptsLeft(.token) }, failures)
  }

  @Test("the first round opens the circuit, later ones ask once, and one answer opens the way for all")
  func opens() async throws {
    let bench = try await bench()
    fail(bench, times: 200)
    let first = await askAll(bench)
    #expect(first.failures.allSatisfy { $0?.kind == .unavailable })
    #expect(await bench.service.conditions.first?.contains("127.0.0.1:8080 cannot be reached") == true)
    bench.clock.advance(by: 0.1)
    let closed = await askAll(bench)
    #expect(closed.sent == 0)
    #expect(closed.failures.allSatisfy { ($0?.retryAfterMilliseconds ?? 0) > 0 })
    for _ in 0..<5 {
      bench.clock.advance(by: 6)
      let later = await askAll(bench)
      #expect(later.sent == 1, "one account asks, the others take its word")
      #expect(later.failures.allSatisfy { $0?.kind == .unavailable })
    }
    bench.transport.withServer { $0.clearScripts() }
    bench.clock.advance(by: 6)
    #expect(await askAll(bench).failures.allSatisfy { $0 == nil })
    #expect(await bench.service.conditions.isEmpty)
  }

  @Test("a login asks a server that cannot be reached all the same, and its answer opens the way for all")
  func loginCloses() async throws {
    let bench = try await bench()
    fail(bench, times: 200)
    _ = await askAll(bench)
    #expect(await bench.failure(TokenGet(account: "a19"))?.kind == .unavailable)
    bench.transport.withServer { $0.clearScripts() }
    try await bench.logIn("a3", request: "again")
    #expect(await bench.service.conditions.isEmpty)
  }

  @Test("logins that fail open it")
  func loginsOpen() async throws {
    let bench = try await bench()
    fail(bench, times: 200)
    for name in Self.names.prefix(ServerCircuit.accounts) {
      await #expect(throws: AgentFailure.self) { try await bench.logIn(name, request: "again") }
    }
    #expect(await askAll(bench).sent == 0)
  }

  @Test("revocations that could not be told are tried by one account for all")
  func revocations() async throws {
    let bench = try await bench()
    bench.transport.withServer { $0.script(.revoke, .refuse, times: 200) }
    func left() -> Int { bench.transport.withServer { $0.scriptsLeft(.revoke) } }
    for name in Self.names { _ = try await bench.call(Logout(account: name)) }
    #expect(left() == 180, "a person asked for each")
    func pass() async throws {
      try await eventually("all wait") {
        await bench.service.awaitedCount == Self.names.count && !bench.clock.wakes.isEmpty
      }
      bench.clock.advance(by: 400)
    }
    for round in 1...5 {
      try await pass()
      try await eventually("one asks") { left() == 180 - round }
    }
    bench.transport.withServer { $0.clearScripts() }
    try await pass()
    try await eventually("all are told") {
      bench.transport.withServer { $0.requests(to: .revoke) } == 20 + 5 + 20
    }
    #expect(await bench.service.conditions.isEmpty)
  }

  @Test("four accounts never open it, and another server's accounts are not concerned")
  func others() async throws {
    let bench = try await bench()
    fail(bench, times: 8)
    for _ in 0..<2 {
      for name in Self.names.prefix(4) {
        #expect(await bench.failure(TokenGet(account: name))?.kind == .unavailable)
      }
      bench.clock.advance(by: 6)
    }
    #expect(await bench.service.conditions.isEmpty)
    #expect(await bench.failure(TokenGet(account: "a7")) == nil)
  }
}
