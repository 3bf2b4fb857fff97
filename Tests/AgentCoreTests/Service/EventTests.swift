import AgentTestSupport
import AgentWire
import Synchronization
import Testing

@testable import AgentCore

@Suite("Events")
struct EventTests {
  /// The events that wait for the fixture's caller, as `METHOD STATE REASON`.
  private static func told(_ fixture: AgentFixture, _ connection: UInt64 = 1) -> [String] {
    var found: [String] = []
    while let line = fixture.router.events.next(for: connection, orWake: {}) {
      let text = String(decoding: line, as: UTF8.self)
      let name = text.split(separator: "\"").first { $0.hasPrefix("events.") }.map(String.init) ?? text
      let state = text.split(separator: "\"state\":\"").dropFirst().first?.split(separator: "\"").first.map(String.init)
      found.append(([name] + [state].compactMap(\.self)).joined(separator: " "))
    }
    return found
  }

  @Test("A login, a refresh, a token's end and a logout are told, and nothing that changes nothing")
  func accounts() async throws {
    let definition = AccountDefinition.browser.changed { $0.keep = .onDemand }
    let fixture = AgentFixture([definition])
    _ = try await fixture.call(EventsSubscribe())
    #expect(Self.told(fixture) == [])
    try await fixture.logIn()
    try await eventually("the login is told") { !(await fixture.service.told["work"]?.state == .loginPending) }
    let login = Self.told(fixture)
    #expect(login.last == "events.account ok" && login.contains("events.account login_pending"))
    _ = try await fixture.call(TokenGet(account: "work"))
    _ = try await fixture.call(AgentStatus())
    fixture.clock.advance(by: 1_000)
    _ = try await fixture.call(TokenGet(account: "work"))
    #expect(Self.told(fixture) == [])

    // Nobody asks for anything when the token ends.
    try await fixture.clock.sleepers(until: 2_600)
    fixture.clock.advance(by: 2_601)
    try await eventually("its end is told") { await fixture.service.told["work"]?.state == .expired }
    #expect(Self.told(fixture) == ["events.account expired"])
    _ = try await fixture.call(TokenGet(account: "work"))
    #expect(Self.told(fixture) == ["events.account refreshing", "events.account ok"])
    _ = try await fixture.call(Logout(account: "work"))
    #expect(Self.told(fixture).first == "events.account new")
    _ = try await fixture.call(AccountForget(account: "work"))
    fixture.configuration.set([])
    _ = try await fixture.call(ConfigReload())
    #expect(Self.told(fixture) == ["events.account"])
  }

  @Test("A lock and an unlock are one event each, and no account's; problems of files are counted")
  func vault() async throws {
    let fixture = AgentFixture()
    _ = try await fixture.call(EventsSubscribe())
    try await fixture.logIn()
    try await eventually("the login is told") { await fixture.service.told["work"]?.state == .ok }
    _ = Self.told(fixture)
    _ = try await fixture.call(VaultLock())
    await fixture.service.told.vaultTelling?.value
    #expect(Self.told(fixture) == ["events.vault locked"])
    _ = try await fixture.call(VaultUnlock())
    await fixture.service.told.vaultTelling?.value
    #expect(Self.told(fixture) == ["events.vault open"])
    fixture.configuration.set(
      [.browser], problems: [ConfigurationProblem(file: "/etc/accounts.d/work.toml", line: 1, key: nil, reason: "bad")])
    _ = try await fixture.call(ConfigReload())
    #expect(Self.told(fixture) == ["events.problems", "events.account config_invalid"])
  }

  @Test("A disk that fails a refresh by plan, and its mending, are told while nobody asks for anything")
  func disk() async throws {
    let fixture = AgentFixture([.browser.changed { $0.keep = .always }])
    try await fixture.logIn()
    _ = try await fixture.call(EventsSubscribe())
    func isTold(_ event: String) -> Bool { Self.told(fixture).contains(event) }
    fixture.vault.setFailed(true)
    fixture.store.fail(put: 1)
    let now = fixture.clock.now().bootSeconds
    try await eventually("a refresh is planned") { fixture.clock.wakes.contains { (2_000...3_100) ~= $0 - now } }
    fixture.clock.advance(by: 3_100)
    try await eventually("the failure is told") { isTold("events.vault failed") }
    fixture.vault.setFailed(false)
    try await fixture.clock.sleepers(until: 1)
    fixture.clock.advance(by: 2)
    try await eventually("its end is told") { isTold("events.vault open") }
  }

  @Test("No event holds a secret")
  func secrets() async throws {
    let fixture = AgentFixture()
    _ = try await fixture.call(EventsSubscribe())
    try await fixture.logIn()
    let token = try await fixture.call(TokenGet(account: "work", rejected: nil)).accessToken
    _ = try await fixture.call(SecretSet(account: "work", kind: .clientSecret, value: "planted-secret"))
    _ = try await fixture.call(TokenGet(account: "work", force: true))
    var text = ""
    while let line = fixture.router.events.next(for: 1, orWake: {}) { text += String(decoding: line, as: UTF8.self) }
    #expect(text.contains("refreshing") && !text.contains(token) && !text.contains("planted"))
  }

  @Test("Nothing is kept while nobody is told, and nothing after the last one left")
  func nobody() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    #expect(await fixture.service.told.isEmpty)
    _ = try await fixture.call(EventsSubscribe())
    #expect(await !fixture.service.told.isEmpty)
    fixture.router.events.remove(1)
    _ = try await fixture.call(TokenGet(account: "work", force: true))
    #expect(await fixture.service.told.isEmpty)
  }

  @Test("A slow one is told how much it lost, and delays nobody; one too many is turned away")
  func bounds() throws {
    let feed = EventFeed()
    for connection in 1...UInt64(WireLimits.subscribers) { #expect(feed.add(connection)) }
    #expect(!feed.add(1_000) && feed.add(1), "again is no further one")
    for count in 0..<1_000 {
      feed.tell(.problems(count))
      #expect(feed.next(for: 2, orWake: {}) == AgentEvent.problems(count).line)
    }
    let lost = 1_000 - WireLimits.eventsKept
    #expect(feed.next(for: 1, orWake: {}) == AgentEvent.lost(lost).line)
    for count in lost..<1_000 { #expect(feed.next(for: 1, orWake: {}) == AgentEvent.problems(count).line) }
    #expect(feed.next(for: 1, orWake: {}) == nil)
    feed.remove(3)
    #expect(feed.add(1_000), "a place became free")
    #expect(feed.next(for: 1_000, orWake: {}) == nil, "what was before is not told")
  }

  @Test("Whoever found nothing is woken once")
  func wakes() {
    let feed = EventFeed()
    #expect(feed.add(1))
    let woken = Mutex(0)
    #expect(feed.next(for: 1) { woken.withLock { $0 += 1 } } == nil)
    for count in 0..<3 { feed.tell(.problems(count)) }
    #expect(woken.withLock(\.self) == 1)
    #expect(feed.next(for: 1, orWake: {}) == AgentEvent.problems(0).line)
  }
}
