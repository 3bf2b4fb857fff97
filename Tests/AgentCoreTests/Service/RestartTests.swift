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
    let bench = Bench()
    bench.transport.withServer { $0.options.rotation = rotation }
    try await bench.logIn()
    let moments = Mutex<[(server: DevAuthorizationServer, at: Moment)]>([])
    let (transport, clock) = (bench.transport, bench.clock)
    bench.store.beforePut {
      let server = transport.withServer { $0 }
      moments.withLock { $0.append((server, clock.now())) }
    }
    for _ in 0..<2 {
      bench.clock.advance(by: 3_601)
      _ = try await bench.call(TokenGet(account: "work"))
    }
    let history = bench.store.history
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
        let clock = HandClock(bootSeconds: point.at.bootSeconds, wallSeconds: point.at.wallSeconds)
        let transport = DevTransport(point.server.options, time: clock)
        transport.withServer { $0 = point.server }
        let bench = Bench(store: MemoryStore(point.disk), clock: clock, transport: transport)
        let before = point.served
        let failure = await bench.failure(TokenGet(account: "work", force: true))
        let context: Comment = "\(rotation), \(point.disk.count) puts, \(point.served) served"
        if rotation == .strict, point.isAmbiguous {
          #expect(failure?.kind == .loginRequired, context)
        } else {
          #expect(failure == nil, context)
        }
        #expect(bench.refreshes <= before + 2, "never more than the retry and what was asked for")
      }
    }
  }

  @Test("a grant whose refresh died half-way is finished by the next agent without anybody asking")
  func unattended() async throws {
    let bench = Bench()
    bench.transport.withServer { $0.options.rotation = .grace(seconds: 60) }
    try await bench.logIn()
    bench.transport.withServer { $0.script(.token, .actThenDrop) }
    bench.clock.advance(by: 3_601)
    async let asked: TokenAnswer? = try? bench.call(TokenGet(account: "work", timeoutMilliseconds: 1))
    try await eventually("the refresh was sent") { bench.refreshes == 1 }
    // The login and the intent: what this agent learns afterwards is not on the disk of the next.
    let restarted = bench.restarted(store: MemoryStore(Array(bench.store.history.prefix(2))))
    _ = try await restarted.call(AccountList())
    try await eventually("the retry was sent") { bench.refreshes == 2 }
    await restarted.service.idle(seconds: 60)
    #expect(try await restarted.isGood(restarted.call(TokenGet(account: "work")).accessToken))
    #expect(bench.refreshes == 2)
    try await bench.clock.sleepers(until: 0.5)
    bench.clock.advance(by: 1)
    _ = await asked
  }

  @Test("a reboot with the wall clock gone on: an expired token is renewed, a valid one is served")
  func reboot() async throws {
    let bench = Bench()
    try await bench.logIn()
    let first = try await bench.call(TokenGet(account: "work")).accessToken
    bench.clock.reboot(after: 600)
    let second = bench.restarted()
    #expect(try await second.call(TokenGet(account: "work")).accessToken == first)
    #expect(try await second.call(TokenGet(account: "work")).expiresInSeconds == 3_000)
    bench.clock.reboot(after: 3_001)
    let third = bench.restarted()
    #expect(try await third.isGood(third.call(TokenGet(account: "work")).accessToken))
    #expect(bench.refreshes == 1)
  }

  @Test("a disk that fails with the answer: storage_failed, then the token without another refresh")
  func disk() async throws {
    let bench = Bench()
    try await bench.logIn()
    bench.store.fail(put: 2)
    bench.clock.advance(by: 3_601)
    #expect(await bench.failure(TokenGet(account: "work"))?.kind == .storageFailed)
    try await eventually("it is saved again by itself") {
      bench.clock.advance(by: 1)
      return bench.store.history.count == 3
    }
    #expect(try await bench.isGood(bench.call(TokenGet(account: "work")).accessToken))
    #expect(bench.refreshes == 1)
  }

  @Test("a disk that fails with the answer, and then a kill: the login lives on in what was kept aside")
  func diskAndKill() async throws {
    let bench = Bench([.browser.changed { $0.keep = .onDemand }])
    try await bench.logIn()
    bench.store.fail(put: 2)
    bench.clock.advance(by: 3_601)
    #expect(await bench.failure(TokenGet(account: "work"))?.kind == .storageFailed)
    #expect(bench.store.spilled == 1)
    let next = bench.restarted()
    #expect(try await next.isGood(next.call(TokenGet(account: "work")).accessToken))
    #expect(bench.refreshes == 1)
  }

  @Test("an intent that cannot be saved is not kept aside: nothing was sent")
  func diskBefore() async throws {
    // By plan the first try could be made, and fail, before anybody asks.
    let bench = Bench([.browser.changed { $0.keep = .onDemand }])
    try await bench.logIn()
    bench.store.fail(put: 1)
    bench.clock.advance(by: 3_601)
    #expect(await bench.failure(TokenGet(account: "work"))?.kind == .storageFailed)
    #expect(bench.store.spilled == 0)
  }

  @Test("a vault that cannot be opened answers as such, and is opened once however many ask")
  func open() async throws {
    let bench = Bench()
    try await bench.logIn()
    let store = MemoryStore(bench.store.history)
    let restarted = bench.restarted(store: store)
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
      let bench = Bench()
      bench.store.failLoads([.locked, .locked, .locked])
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<30 { group.addTask { while await bench.failure(AccountShow(account: "work")) != nil {} } }
      }
      let loads = bench.store.loads
      _ = try await bench.call(AccountShow(account: "work"))
      #expect(loads == 4, "three that failed, one that did not")
      #expect(loads == bench.store.loads)
      #expect(bench.store.mostLoading == 1)
    }
  }

  @Test("an older vault serves what is valid and refreshes nothing until a login or the user's word")
  func rolledBack() async throws {
    let bench = Bench()
    try await bench.logIn()
    await bench.service.drain(seconds: 1)
    let restarted = bench.restarted(store: MemoryStore(bench.store.history, rolledBackFrom: 9))
    #expect(try await restarted.isGood(restarted.call(TokenGet(account: "work")).accessToken))
    bench.clock.advance(by: 3_601)
    #expect(await restarted.failure(TokenGet(account: "work"))?.kind == .vaultDamaged)
    #expect(bench.refreshes == 0)
    await restarted.service.acceptRollback()
    #expect(try await restarted.isGood(restarted.call(TokenGet(account: "work")).accessToken))
  }

  @Test("what told of an older vault is looked at again when somebody asks, or asks for the status")
  func rollbackThatWasNone() async throws {
    for isStatus in [false, true] {
      let bench = Bench()
      try await bench.logIn()
      await bench.service.drain(seconds: 1)
      let store = MemoryStore(bench.store.history, rolledBackFrom: 9)
      let restarted = bench.restarted(store: store)
      bench.clock.advance(by: 3_601)
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
      let bench = Bench([definition("a")])
      try await bench.logIn()
      bench.configuration.set([definition("b")])
      _ = try await bench.call(ConfigReload())
      let failure = try #require(await bench.failure(forced))
      #expect(failure.kind == .definitionChanged && failure.hint?.hasPrefix("put /ca.pem back") == true)
      bench.configuration.set([definition("a")])
      if isStatus {
        #expect(try await bench.call(AgentStatus()).accounts.map(\.state) == [.ok])
      } else {
        #expect(try await bench.isGood(bench.call(forced).accessToken))
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
    let bench = Bench([definition("a", "1"), definition("b", "1")])
    for name in ["a", "b"] { try await bench.logIn(name, request: name) }
    let changed = definition("a", "1", hosts: ["http://127.0.0.1:9"])
    bench.configuration.set([changed, definition("b", "2")])
    _ = try await bench.call(ConfigReload())
    #expect(try await bench.call(AgentStatus()).accounts.map(\.state) == [.definitionChanged, .definitionChanged])
    bench.configuration.set([changed, definition("b", "1")])
    let states = try await bench.call(AgentStatus()).accounts.map { "\($0.account) \($0.state.rawValue)" }
    #expect(states == ["a definition_changed", "b ok"])
  }

  @Test(
    "a login in an older vault is refreshed after a restart, but not after another rollback", arguments: [9, 10, nil])
  func loginAfterRollback(later: UInt64?) async throws {
    let bench = Bench()
    try await bench.logIn()
    await bench.service.drain(seconds: 1)
    let old = bench.restarted(store: MemoryStore(bench.store.history, rolledBackFrom: 9))
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
