import AgentCore
import AgentTestSupport
import AgentWire
import DevAuthorizationServer
import OAuthProtocol
import Testing

@Suite("Clocks that are wrong, or move")
struct ClockServiceTests {
  private func metadataRequests(_ bench: Bench) -> Int { bench.transport.withServer { $0.requests(to: .metadata) } }

  private func readyAnswer(_ bench: Bench) -> Bool {
    bench.ready.token(for: "work", minimumValiditySeconds: nil, at: bench.clock.now()) != nil
  }

  @Test("a paused machine: its boot clock knows nothing, the server's Date does, and no dead token is served")
  func paused() async throws {
    let bench = Bench()
    try await bench.logIn()
    let first = try await bench.call(TokenGet(account: "work"))
    let before = metadataRequests(bench)
    bench.clock.setWall(bench.clock.now().wallSeconds + 5_000)
    #expect(!readyAnswer(bench), "the ready path does not know how old its token is")
    let second = try await bench.call(TokenGet(account: "work"))
    #expect(second.accessToken != first.accessToken)
    #expect(await bench.isGood(second.accessToken))
    #expect(metadataRequests(bench) == before + 1, "one question to the server")
    #expect(bench.refreshes == 1)
    #expect(readyAnswer(bench))
  }

  @Test("a wall clock that was set costs one question and no refresh", arguments: [-86_400.0, 86_400])
  func set(seconds: Double) async throws {
    let bench = Bench()
    try await bench.logIn()
    let first = try await bench.call(TokenGet(account: "work"))
    let before = metadataRequests(bench)
    bench.clock.setWall(bench.clock.now().wallSeconds + seconds)
    bench.transport.withServer { $0.options.clockSkewSeconds = -seconds }
    for _ in 0..<3 { #expect(try await bench.call(TokenGet(account: "work")).accessToken == first.accessToken) }
    #expect(metadataRequests(bench) == before + 1)
    #expect(bench.refreshes == 0)
    #expect(readyAnswer(bench))
    let word = seconds > 0 ? "24 h ahead of" : "24 h behind"
    #expect(await bench.service.conditions.contains { $0.contains(word) })
  }

  @Test("a server that cannot tell the time leaves the boot clock in charge, and nobody waits longer than asked")
  func silent() async throws {
    let bench = Bench()
    try await bench.logIn()
    let first = try await bench.call(TokenGet(account: "work"))
    bench.clock.setWall(bench.clock.now().wallSeconds + 5_000)
    bench.transport.withServer { $0.options.delayMilliseconds[.metadata] = 20_000 }
    async let impatient = bench.call(TokenGet(account: "work", timeoutMilliseconds: 3_000))
    try await bench.clock.sleepers(until: 3)
    try await bench.clock.sleepers(until: 20)
    bench.clock.advance(by: 3)
    #expect(try await impatient.accessToken == first.accessToken)
    bench.transport.withServer { $0.script(.metadata, .refuse) }
  }

  @Test("a clock that is hours wrong is told from the first answer on, and costs no token a second of its life")
  func wrong() async throws {
    let bench = Bench()
    bench.transport.withServer { $0.options.clockSkewSeconds = 3 * 3_600 }
    try await bench.logIn()
    #expect(
      try await bench.call(AgentStatus()).degraded.contains("this machine's clock is 3 h behind that of 127.0.0.1"))
    #expect(try await bench.call(TokenGet(account: "work")).expiresInSeconds == 3_600)
    bench.transport.withServer { $0.options.clockSkewSeconds = 0 }
    _ = try await bench.call(TokenGet(account: "work", force: true))
    #expect(try await bench.call(AgentStatus()).degraded == ["a condition"])
  }

  @Test("a login that has only asked for the server's metadata tells a wrong clock")
  func discovery() async throws {
    let bench = Bench()
    bench.transport.withServer { $0.options.clockSkewSeconds = -7_200 }
    _ = try await bench.start()
    #expect(await bench.service.conditions == ["this machine's clock is 2 h ahead of that of 127.0.0.1"])
  }

  @Test("a wrong clock is told of the servers of today's definitions, whatever was asked before")
  func definitions() async throws {
    let bench = Bench()
    bench.transport.withServer { $0.options.clockSkewSeconds = -7_200 }
    _ = try await bench.start()
    #expect(await bench.service.conditions.count == 1)
    bench.configuration.set([])
    _ = await bench.service.filesChanged()
    #expect(await bench.service.conditions.isEmpty, "its accounts are gone")
    bench.configuration.set([.browser])
    _ = await bench.service.filesChanged()
    #expect(await bench.service.conditions.count == 1)
  }

  @Test("a reboot into a wrong clock: one token is renewed, and its answer dates those of the other accounts")
  func rebootIntoTheWrongTime() async throws {
    let bench = Bench()
    try await bench.logIn()
    _ = try await bench.call(TokenGet(account: "work"))
    bench.clock.reboot(after: 60)
    bench.clock.setWall(bench.clock.now().wallSeconds - 10_000)
    bench.transport.withServer { $0.options.clockSkewSeconds = 10_000 }
    let next = bench.restarted()
    let token = try await next.call(TokenGet(account: "work"))
    #expect(next.refreshes == 1)
    #expect(token.expiresInSeconds == 3_600)
  }
}
