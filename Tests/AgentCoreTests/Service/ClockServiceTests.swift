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

  @Test(
    "a server that cannot tell the time leaves the boot clock in charge after five seconds, and nobody waits longer than asked"
  )
  func silent() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    let first = try await fixture.call(TokenGet(account: "work"))
    fixture.clock.setWall(fixture.clock.now().wallSeconds + 5_000)
    fixture.transport.withServer { $0.options.delayMilliseconds[.metadata] = 20_000 }
    async let impatient = failure(TokenGet(account: "work", timeoutMilliseconds: 3_000), fixture)
    async let patient = fixture.call(TokenGet(account: "work"))
    try await fixture.clock.sleepers(until: 3)
    try await fixture.clock.sleepers(until: 5)
    try await fixture.clock.sleepers(until: 20)
    fixture.clock.advance(by: 3)
    #expect(await impatient?.message.contains("has not told the time yet") == true)
    #expect(!readyAnswer(fixture))
    fixture.clock.advance(by: 2)
    #expect(try await patient.accessToken == first.accessToken)
    #expect(readyAnswer(fixture))
    fixture.transport.withServer { $0.script(.metadata, .refuse) }
  }

  @Test("a lock that fails does not end the wait for a server that has not told the time")
  func failedLock() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    let first = try await fixture.call(TokenGet(account: "work"))
    fixture.clock.setWall(fixture.clock.now().wallSeconds + 5_000)
    fixture.transport.withServer { $0.options.delayMilliseconds[.metadata] = 20_000 }
    async let caller = failure(TokenGet(account: "work"), fixture)
    try await fixture.clock.sleepers(until: 5)
    fixture.vault.fail(hold: AgentFailure(.vaultInUse, "held"))
    #expect(await fixture.failure(VaultLock())?.kind == .vaultInUse)
    #expect(!readyAnswer(fixture))
    async let patient = fixture.call(TokenGet(account: "work"))
    try await fixture.clock.sleepers(until: 5)
    fixture.clock.advance(by: 5)
    #expect(try await patient.accessToken == first.accessToken)
    // The lock may have told the first one.
    _ = await caller
  }

  private func failure(_ request: TokenGet, _ fixture: AgentFixture) async -> AgentFailure? {
    do throws(AgentFailure) { _ = try await fixture.call(request) } catch { return error }
    return nil
  }

  @Test("a server that could not be asked at first is asked again, and what it tells then counts")
  func laterTold() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    let first = try await fixture.call(TokenGet(account: "work"))
    fixture.clock.setWall(fixture.clock.now().wallSeconds + 5_000)
    // As where the network is back later than the wall clock.
    fixture.transport.withServer { $0.script(.metadata, .refuse) }
    #expect(try await fixture.call(TokenGet(account: "work")).accessToken == first.accessToken)
    try await fixture.clock.sleepers(until: 5)
    fixture.clock.advance(by: 5)
    try await eventually("the token is as old as it is") { !readyAnswer(fixture) }
    #expect(try await fixture.call(TokenGet(account: "work")).accessToken != first.accessToken)
  }

  @Test("an ID token waits for its server's time as any token does, and is none after its end")
  func idToken() async throws {
    let fixture = AgentFixture([.browser.changed { $0.scope = ["openid"] }])
    fixture.transport.withServer { $0.options.idTokenLifeSeconds = 600 }
    try await fixture.logIn()
    let first = try await fixture.call(TokenID(account: "work"))
    fixture.clock.setWall(fixture.clock.now().wallSeconds + 5_000)
    #expect(try await fixture.call(TokenID(account: "work")).idToken != first.idToken)
  }

  @Test("a pause between two agents in one boot is noticed by the second")
  func betweenAgents() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    let first = try await fixture.call(TokenGet(account: "work"))
    fixture.clock.setWall(fixture.clock.now().wallSeconds + 5_000)
    let next = fixture.restarted()
    let second = try await next.call(TokenGet(account: "work"))
    #expect(second.accessToken != first.accessToken && next.refreshes == 1)
    let before = metadataRequests(next)
    let third = next.restarted()
    #expect(try await third.call(TokenGet(account: "work")).accessToken == second.accessToken)
    #expect(metadataRequests(third) == before, "the new token is dated by the clock as it is")
  }

  @Test("a clock that was set between two agents costs one question, and none at the next start")
  func setBetweenAgents() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    let first = try await fixture.call(TokenGet(account: "work"))
    fixture.clock.setWall(fixture.clock.now().wallSeconds - 86_400)
    fixture.transport.withServer { $0.options.clockSkewSeconds = 86_400 }
    let before = metadataRequests(fixture)
    let next = fixture.restarted()
    #expect(try await next.call(TokenGet(account: "work")).accessToken == first.accessToken)
    await next.service.idle(seconds: 5)
    let last = next.restarted()
    #expect(try await last.call(TokenGet(account: "work")).accessToken == first.accessToken)
    #expect(metadataRequests(last) == before + 1 && last.refreshes == 0)
  }

  @Test("a lock and an unlock in which the machine stood still give no dead token")
  func overLock() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    let first = try await fixture.call(TokenGet(account: "work"))
    let next = fixture.restarted()
    #expect(try await next.call(TokenGet(account: "work")).accessToken == first.accessToken)
    fixture.clock.setWall(fixture.clock.now().wallSeconds + 5_000)
    let second = try await next.call(TokenGet(account: "work"))
    #expect(second.accessToken != first.accessToken, "this agent had never heard the server's clock before")
  }

  @Test("a pause that one account's answer hears of first is none the less for the others of the server")
  func heardByAnother() async throws {
    var other = AccountDefinition.browser
    other.name = "other"
    let fixture = AgentFixture([.browser, other])
    try await fixture.logIn()
    try await fixture.logIn("other", request: "two")
    let first = try await fixture.call(TokenGet(account: "work"))
    // The machine stood still; the wall clock is set right only later.
    fixture.transport.withServer { $0.options.clockSkewSeconds = 5_000 }
    _ = try await fixture.call(TokenGet(account: "other", force: true))
    fixture.clock.setWall(fixture.clock.now().wallSeconds + 5_000)
    fixture.transport.withServer { $0.options.clockSkewSeconds = 0 }
    #expect(try await fixture.call(TokenGet(account: "work")).accessToken != first.accessToken)
  }

  @Test("a server that does not answer is asked once, however often the clock moves meanwhile")
  func storm() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    let before = metadataRequests(fixture)
    fixture.transport.withServer { $0.options.delayMilliseconds[.metadata] = 3_000 }
    var callers: [Task<AgentFailure?, Never>] = []
    for _ in 1...20 {
      fixture.clock.setWall(fixture.clock.now().wallSeconds + 100)
      callers.append(Task { await failure(TokenGet(account: "work"), fixture) })
      try await eventually("it was noticed") { fixture.ready.hasWallMoved(at: fixture.clock.now()) == false }
    }
    try await fixture.clock.sleepers(until: 3)
    #expect(metadataRequests(fixture) <= before + 1)
    fixture.transport.withServer { $0.options.delayMilliseconds[.metadata] = 0 }
    fixture.clock.advance(by: 3)
    for caller in callers { #expect(await caller.value == nil) }
    #expect(metadataRequests(fixture) == before + 2, "once more, since it has moved")
  }

  @Test("a login that ends while its server is asked for the time, and the next one, are not held for ever")
  func loggedOutMeanwhile() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    fixture.clock.setWall(fixture.clock.now().wallSeconds + 100)
    fixture.transport.withServer { $0.options.delayMilliseconds[.metadata] = 60_000 }
    async let asking = failure(TokenGet(account: "work", timeoutMilliseconds: 1_000), fixture)
    try await fixture.clock.sleepers(until: 60)
    fixture.clock.advance(by: 1)
    _ = await asking
    _ = try await fixture.call(Logout(account: "work"))
    fixture.clock.setWall(fixture.clock.now().wallSeconds + 200)
    #expect(await failure(TokenGet(account: "work"), fixture)?.kind == .loginRequired)
    fixture.clock.advance(by: 5)
    fixture.transport.withServer { $0.options.delayMilliseconds[.metadata] = 0 }
    try await fixture.logIn(request: "two")
    _ = try await fixture.call(TokenGet(account: "work"))
    try await eventually("the ready token is given") { readyAnswer(fixture) }
  }

  @Test("a caller is told at once that its account is gone, while its server is asked for the time")
  func goneMeanwhile() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    fixture.clock.setWall(fixture.clock.now().wallSeconds + 100)
    fixture.transport.withServer { $0.options.delayMilliseconds[.metadata] = 60_000 }
    async let asking = failure(TokenGet(account: "work"), fixture)
    try await fixture.clock.sleepers(until: 60)
    _ = try await fixture.call(AccountForget(account: "work"))
    fixture.configuration.set([])
    _ = await fixture.service.filesChanged()
    #expect(await asking?.kind == .accountUnknown)
  }

  @Test("a second pause while a server is asked for the time is noticed")
  func twice() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    let first = try await fixture.call(TokenGet(account: "work"))
    fixture.clock.setWall(fixture.clock.now().wallSeconds + 100)
    fixture.transport.withServer { $0.options.delayMilliseconds[.metadata] = 4_000 }
    async let asking = fixture.call(TokenGet(account: "work"))
    try await fixture.clock.sleepers(until: 4)
    fixture.clock.setWall(fixture.clock.now().wallSeconds + 5_000)
    fixture.transport.withServer { $0.options.delayMilliseconds[.metadata] = 0 }
    fixture.clock.advance(by: 4)
    _ = try await asking
    #expect(try await fixture.call(TokenGet(account: "work")).accessToken != first.accessToken)
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
