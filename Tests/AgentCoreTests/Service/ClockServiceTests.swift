import AgentCore
import AgentTestSupport
import AgentWire
import DevAuthorizationServer
import OAuthProtocol
import Testing

@Suite("Clocks that are wrong, or move")
struct ClockServiceTests {
  private func metadataRequests(_ fixture: AgentFixture) -> Int {
    fixture.transport.withServer { $0.requests(to: .metadata) }
  }

  private func readyAnswer(_ fixture: AgentFixture) -> Bool {
    fixture.ready.token(for: "work", minimumValiditySeconds: nil, at: fixture.clock.now()) != nil
  }

  @Test("a paused machine: its boot clock knows nothing, the server's Date does, and no dead token is served")
  func paused() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    let first = try await fixture.call(TokenGet(account: "work"))
    let before = metadataRequests(fixture)
    fixture.clock.setWall(fixture.clock.now().wallSeconds + 5_000)
    #expect(!readyAnswer(fixture), "the ready path does not know how old its token is")
    let second = try await fixture.call(TokenGet(account: "work"))
    #expect(second.accessToken != first.accessToken)
    #expect(await fixture.isGood(second.accessToken))
    #expect(metadataRequests(fixture) == before + 1, "one question to the server")
    #expect(fixture.refreshes == 1)
    #expect(readyAnswer(fixture))
  }

  @Test("a wall clock that was set costs one question and no refresh", arguments: [-86_400.0, 86_400])
  func set(seconds: Double) async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    let first = try await fixture.call(TokenGet(account: "work"))
    let before = metadataRequests(fixture)
    fixture.clock.setWall(fixture.clock.now().wallSeconds + seconds)
    fixture.transport.withServer { $0.options.clockSkewSeconds = -seconds }
    for _ in 0..<3 { #expect(try await fixture.call(TokenGet(account: "work")).accessToken == first.accessToken) }
    #expect(metadataRequests(fixture) == before + 1)
    #expect(fixture.refreshes == 0)
    #expect(readyAnswer(fixture))
    let word = seconds > 0 ? "24 h ahead of" : "24 h behind"
    #expect(await fixture.service.conditions.contains { $0.message.contains(word) })
  }

  @Test("a server that cannot tell the time leaves the boot clock in charge, and nobody waits longer than asked")
  func silent() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    let first = try await fixture.call(TokenGet(account: "work"))
    fixture.clock.setWall(fixture.clock.now().wallSeconds + 5_000)
    fixture.transport.withServer { $0.options.delayMilliseconds[.metadata] = 20_000 }
    async let impatient = fixture.call(TokenGet(account: "work", timeoutMilliseconds: 3_000))
    try await fixture.clock.sleepers(until: 3)
    try await fixture.clock.sleepers(until: 20)
    fixture.clock.advance(by: 3)
    #expect(try await impatient.accessToken == first.accessToken)
    fixture.transport.withServer { $0.script(.metadata, .refuse) }
  }

  @Test("a clock that is hours wrong is told from the first answer on, and costs no token a second of its life")
  func wrong() async throws {
    let fixture = AgentFixture()
    fixture.transport.withServer { $0.options.clockSkewSeconds = 3 * 3_600 }
    try await fixture.logIn()
    #expect(
      try await fixture.call(AgentStatus()).degraded.contains("this machine's clock is 3 h behind that of 127.0.0.1"))
    #expect(try await fixture.call(TokenGet(account: "work")).expiresInSeconds == 3_600)
    fixture.transport.withServer { $0.options.clockSkewSeconds = 0 }
    _ = try await fixture.call(TokenGet(account: "work", force: true))
    #expect(try await fixture.call(AgentStatus()).degraded == ["a condition"])
  }

  @Test("a login that has only asked for the server's metadata tells a wrong clock")
  func discovery() async throws {
    let fixture = AgentFixture()
    fixture.transport.withServer { $0.options.clockSkewSeconds = -7_200 }
    _ = try await fixture.start()
    #expect(
      await fixture.service.conditions.map(\.message) == ["this machine's clock is 2 h ahead of that of 127.0.0.1"])
  }

  @Test("a wrong clock is told of the servers of today's definitions, whatever was asked before")
  func definitions() async throws {
    let fixture = AgentFixture()
    fixture.transport.withServer { $0.options.clockSkewSeconds = -7_200 }
    _ = try await fixture.start()
    #expect(await fixture.service.conditions.count == 1)
    fixture.configuration.set([])
    _ = await fixture.service.filesChanged()
    #expect(await fixture.service.conditions.isEmpty, "its accounts are gone")
    fixture.configuration.set([.browser])
    _ = await fixture.service.filesChanged()
    #expect(await fixture.service.conditions.count == 1)
  }

  @Test("a reboot into a wrong clock: one token is renewed, and its answer dates those of the other accounts")
  func rebootIntoTheWrongTime() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    _ = try await fixture.call(TokenGet(account: "work"))
    fixture.clock.reboot(after: 60)
    fixture.clock.setWall(fixture.clock.now().wallSeconds - 10_000)
    fixture.transport.withServer { $0.options.clockSkewSeconds = 10_000 }
    let next = fixture.restarted()
    let token = try await next.call(TokenGet(account: "work"))
    #expect(next.refreshes == 1)
    #expect(token.expiresInSeconds == 3_600)
  }
}
