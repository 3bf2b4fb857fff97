import AgentCore
import AgentTestSupport
import AgentWire
import DevAuthorizationServer
import Synchronization
import Testing
import TokenVault

@Suite("Restarts: every point at which the agent can die")
struct RestartTests {
  /// What a crash can leave behind: the disk after some puts, and the server as it was then.
  private struct CrashPoint: Sendable {
    var disk: [VaultRecord]
    var server: DevAuthorizationServer
    var at: Moment
    /// Refresh requests that the server had answered.
    var served: Int
    /// Whether the disk holds the answer to each of them.
    var isAmbiguous: Bool
  }

  /// Logs in and refreshes twice, and takes every state that a crash can leave from the login on.
  private func crashPoints(_ rotation: DevRotation) async throws -> [CrashPoint] {
    let fixture = AgentFixture()
    fixture.transport.withServer { $0.options.rotation = rotation }
    try await fixture.logIn()
    let moments = Mutex<[(server: DevAuthorizationServer, at: Moment)]>([])
    let (transport, clock) = (fixture.transport, fixture.clock)
    fixture.store.beforePut {
      let server = transport.withServer { $0 }
      moments.withLock { $0.append((server, clock.now())) }
    }
    for _ in 0..<2 {
      fixture.clock.advance(by: 3_601)
      _ = try await fixture.call(TokenGet(account: "work"))
    }
    let history = fixture.store.history
    var points: [CrashPoint] = []
    func add(puts: Int, _ server: DevAuthorizationServer, _ at: Moment) {
      let served = server.requests(to: .token, grantType: "refresh_token")
      // The login is one put; each refresh puts its intent and then its answer.
      points.append(
        CrashPoint(
          disk: Array(history.prefix(puts)), server: server, at: at, served: served,
          isAmbiguous: served > (puts - 1) / 2))
    }
    for (index, moment) in moments.withLock({ $0 }).enumerated() {
      add(puts: index + 1, moment.server, moment.at)
      add(puts: index + 2, moment.server, moment.at)
    }
    add(puts: history.count, transport.withServer { $0 }, clock.now())
    return points
  }

  @Test("no login is lost, except in the one stated window with a server that allows no retry")
  func everyPoint() async throws {
    for rotation in [DevRotation.strict, .grace(seconds: 30)] {
      let points = try await crashPoints(rotation)
      #expect(points.count >= 8)
      #expect(points.contains { $0.isAmbiguous })
      for point in points {
        // Restarted in the second of the crash, and asked at once.
        let clock = ManualClock(bootSeconds: point.at.bootSeconds, wallSeconds: point.at.wallSeconds)
        let transport = DevTransport(point.server.options, time: clock)
        transport.withServer { $0 = point.server }
        let fixture = AgentFixture(store: MemoryStore(point.disk), clock: clock, transport: transport)
        let before = point.served
        let failure = await fixture.failure(TokenGet(account: "work", force: true))
        let context: Comment = "\(rotation), \(point.disk.count) puts, \(point.served) served"
        if rotation == .strict, point.isAmbiguous {
          #expect(failure?.kind == .loginRequired, context)
        } else {
          #expect(failure == nil, context)
        }
        #expect(fixture.refreshes <= before + 2, "never more than the retry and what was asked for")
      }
    }
  }

  @Test("a grant whose refresh died half-way is finished by the next agent without anybody asking")
  func unattended() async throws {
    let fixture = AgentFixture()
    fixture.transport.withServer { $0.options.rotation = .grace(seconds: 60) }
    try await fixture.logIn()
    fixture.transport.withServer { $0.script(.token, .actThenDrop) }
    fixture.clock.advance(by: 3_601)
    async let asked: TokenAnswer? = try? fixture.call(TokenGet(account: "work", timeoutMilliseconds: 1))
    try await eventually("the refresh was sent") { fixture.refreshes == 1 }
    // The login and the intent: what this agent learns afterwards is not on the disk of the next.
    let restarted = fixture.restarted(store: MemoryStore(Array(fixture.store.history.prefix(2))))
    _ = try await restarted.call(AccountList())
    try await eventually("the retry was sent") { fixture.refreshes == 2 }
    await restarted.service.idle(seconds: 60)
    #expect(try await restarted.isGood(restarted.call(TokenGet(account: "work")).accessToken))
    #expect(fixture.refreshes == 2)
    try await fixture.clock.sleepers(until: 0.5)
    fixture.clock.advance(by: 1)
    _ = await asked
  }

  @Test("a reboot with the wall clock gone on: an expired token is renewed, a valid one is served")
  func reboot() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    let first = try await fixture.call(TokenGet(account: "work")).accessToken
    fixture.clock.reboot(after: 600)
    let second = fixture.restarted()
    #expect(try await second.call(TokenGet(account: "work")).accessToken == first)
    #expect(try await second.call(TokenGet(account: "work")).expiresInSeconds == 3_000)
    fixture.clock.reboot(after: 3_001)
    let third = fixture.restarted()
    #expect(try await third.isGood(third.call(TokenGet(account: "work")).accessToken))
    #expect(fixture.refreshes == 1)
  }

  @Test("a disk that fails with the answer: storage_failed, then the token without another refresh")
  func disk() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    fixture.store.fail(put: 2)
    fixture.clock.advance(by: 3_601)
    #expect(await fixture.failure(TokenGet(account: "work"))?.kind == .storageFailed)
    try await eventually("it is saved again by itself") {
      fixture.clock.advance(by: 1)
      return fixture.store.history.count == 3
    }
    #expect(try await fixture.isGood(fixture.call(TokenGet(account: "work")).accessToken))
    #expect(fixture.refreshes == 1)
  }

  @Test("a disk that fails with the answer, and then a kill: the login lives on in what was kept aside")
  func diskAndKill() async throws {
    let fixture = AgentFixture([.browser.changed { $0.keep = .onDemand }])
    try await fixture.logIn()
    fixture.store.fail(put: 2)
    fixture.clock.advance(by: 3_601)
    #expect(await fixture.failure(TokenGet(account: "work"))?.kind == .storageFailed)
    #expect(fixture.store.spilled == 1)
    let next = fixture.restarted()
    #expect(try await next.isGood(next.call(TokenGet(account: "work")).accessToken))
    #expect(fixture.refreshes == 1)
  }

  @Test("an intent that cannot be saved is not kept aside: nothing was sent")
  func diskBefore() async throws {
    // By plan the first try could be made, and fail, before anybody asks.
    let fixture = AgentFixture([.browser.changed { $0.keep = .onDemand }])
    try await fixture.logIn()
    fixture.store.fail(put: 1)
    fixture.clock.advance(by: 3_601)
    #expect(await fixture.failure(TokenGet(account: "work"))?.kind == .storageFailed)
    #expect(fixture.store.spilled == 0)
  }

  @Test("a vault that cannot be opened answers as such, and is opened once however many ask")
  func open() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    let store = MemoryStore(fixture.store.history)
    let restarted = fixture.restarted(store: store)
    store.failLoads([.locked, .storageFailed("input/output error")])
    #expect(await restarted.failure(TokenGet(account: "work"))?.kind == .vaultLocked)
    #expect(await restarted.failure(TokenGet(account: "work"))?.kind == .storageFailed)
    let tokens = await withTaskGroup(of: String?.self) { group in
      for _ in 0..<20 { group.addTask { try? await restarted.call(TokenGet(account: "work")).accessToken } }
      return await group.reduce(into: [String?]()) { $0.append($1) }
    }
    #expect(tokens.allSatisfy { $0 != nil })
    #expect(store.loads == 3)
  }

  @Test("callers that ask while opening fails and while it is tried again never see two loads at once")
  func openConcurrently() async throws {
    for _ in 0..<20 {
      let fixture = AgentFixture()
      fixture.store.failLoads([.locked, .locked, .locked])
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<30 { group.addTask { while await fixture.failure(AccountShow(account: "work")) != nil {} } }
      }
      let loads = fixture.store.loads
      _ = try await fixture.call(AccountShow(account: "work"))
      #expect(loads == 4, "three that failed, one that did not")
      #expect(loads == fixture.store.loads)
      #expect(fixture.store.mostLoading == 1)
    }
  }

  @Test("an older vault serves what is valid and refreshes nothing until a login or the user's word")
  func rolledBack() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    await fixture.service.drain(seconds: 1)
    let restarted = fixture.restarted(store: MemoryStore(fixture.store.history, rolledBackFrom: 9))
    #expect(try await restarted.isGood(restarted.call(TokenGet(account: "work")).accessToken))
    fixture.clock.advance(by: 3_601)
    #expect(await restarted.failure(TokenGet(account: "work"))?.kind == .vaultDamaged)
    #expect(fixture.refreshes == 0)
    await restarted.service.acceptRollback()
    #expect(try await restarted.isGood(restarted.call(TokenGet(account: "work")).accessToken))
  }

  @Test("what told of an older vault is looked at again when somebody asks, or asks for the status")
  func rollbackThatWasNone() async throws {
    for isStatus in [false, true] {
      let fixture = AgentFixture()
      try await fixture.logIn()
      await fixture.service.drain(seconds: 1)
      let store = MemoryStore(fixture.store.history, rolledBackFrom: 9)
      let restarted = fixture.restarted(store: store)
      fixture.clock.advance(by: 3_601)
      #expect(await restarted.failure(TokenGet(account: "work"))?.kind == .vaultDamaged)
      store.setRollback(11)
      #expect(await restarted.failure(TokenGet(account: "work"))?.kind == .vaultDamaged)
      store.setRollback(nil)
      if isStatus { _ = try await restarted.call(AgentStatus()) }
      #expect(try await restarted.isGood(restarted.call(TokenGet(account: "work")).accessToken))
    }
  }

  @Test("an authority that was put back is found by whoever asks, without a word to the agent")
  func authorityPutBack() async throws {
    for isStatus in [false, true] {
      func definition(_ digest: String) -> AccountDefinition {
        .browser.changed {
          $0.certificateAuthorityFile = "/ca.pem"
          $0.certificateAuthorityDigest = digest
        }
      }
      var forced = TokenGet(account: "work")
      forced.force = true
      let fixture = AgentFixture([definition("a")])
      try await fixture.logIn()
      fixture.configuration.set([definition("b")])
      _ = try await fixture.call(ConfigReload())
      let failure = try #require(await fixture.failure(forced))
      #expect(failure.kind == .definitionChanged && failure.hint?.text.hasPrefix("put /ca.pem back") == true)
      fixture.configuration.set([definition("a")])
      if isStatus {
        #expect(try await fixture.call(AgentStatus()).accounts.map(\.state) == [.ok])
      } else {
        #expect(try await fixture.isGood(fixture.call(forced).accessToken))
      }
    }
  }

  @Test("the status finds an authority that was put back behind an account that is changed otherwise")
  func authorityPutBackBehindAnother() async throws {
    func definition(_ name: String, _ digest: String, hosts: [String] = []) -> AccountDefinition {
      .browser.changed {
        $0.name = name
        $0.certificateAuthorityFile = "/\(name).pem"
        $0.certificateAuthorityDigest = digest
        $0.hosts = hosts
      }
    }
    let fixture = AgentFixture([definition("a", "1"), definition("b", "1")])
    for name in ["a", "b"] { try await fixture.logIn(name, request: name) }
    let changed = definition("a", "1", hosts: ["http://127.0.0.1:9"])
    fixture.configuration.set([changed, definition("b", "2")])
    _ = try await fixture.call(ConfigReload())
    #expect(try await fixture.call(AgentStatus()).accounts.map(\.state) == [.definitionChanged, .definitionChanged])
    fixture.configuration.set([changed, definition("b", "1")])
    let states = try await fixture.call(AgentStatus()).accounts.map { "\($0.account) \($0.state.rawValue)" }
    #expect(states == ["a definition_changed", "b ok"])
  }

  @Test(
    "a login in an older vault is refreshed after a restart, but not after another rollback", arguments: [9, 10, nil])
  func loginAfterRollback(later: UInt64?) async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    await fixture.service.drain(seconds: 1)
    let old = fixture.restarted(store: MemoryStore(fixture.store.history, rolledBackFrom: 9))
    try await old.logIn()
    old.clock.advance(by: 3_601)
    #expect(try await old.isGood(old.call(TokenGet(account: "work")).accessToken))
    await old.service.drain(seconds: 1)
    let restarted = old.restarted(store: MemoryStore(old.store.history, rolledBackFrom: later))
    restarted.clock.advance(by: 3_601)
    if later == 10 {
      #expect(await restarted.failure(TokenGet(account: "work"))?.kind == .vaultDamaged)
    } else {
      #expect(try await restarted.isGood(restarted.call(TokenGet(account: "work")).accessToken))
    }
  }
}
