import AgentTestSupport
import AgentWire
import DevAuthorizationServer
import Testing
import TokenVault

@testable import AgentCore

@Suite("Locking")
struct LockTests {
  @Test("After a lock nobody is given anything and nothing is known but the files; an unlock brings all of it back")
  func lockAndUnlock() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    let token = try await fixture.call(TokenGet(account: "work")).accessToken
    let answer = try await fixture.call(VaultLock())
    #expect(answer == VaultLockAnswer(state: .locked, sealed: false, drained: true))
    #expect(fixture.vault.steps == ["hold", "lock"])
    let request = TokenLine.Request(id: .number(1), account: "work")
    #expect(fixture.router.readyAnswer(to: request, from: fixture.caller) == nil)
    #expect(await fixture.failure(TokenGet(account: "work"))?.kind == .vaultLocked)
    #expect(
      await fixture.failure(TokenReject(account: "work", rejected: RejectedToken(token: token)))?.kind == .vaultLocked)
    #expect(await fixture.failure(LoginStart(requestID: "two", account: "work"))?.kind == .vaultLocked)
    #expect(await fixture.failure(Logout(account: "work"))?.kind == .vaultLocked)
    let status = try await fixture.call(AgentStatus())
    #expect(status.accounts.map(\.state) == [.locked])
    #expect(status.accounts.map(\.accountID) == [nil])
    #expect(status.counts == ["accounts": 1])
    #expect(status.vault.state == .locked)
    let refreshes = fixture.refreshes
    fixture.clock.advance(by: 86_400)
    #expect(fixture.refreshes == refreshes && fixture.clock.wakes.isEmpty, "its plan ended with it")
    fixture.clock.advance(by: -86_400)

    #expect(try await fixture.call(VaultUnlock(passphrase: "x")).state == .open)
    #expect(try await fixture.call(TokenGet(account: "work")).accessToken == token)
    #expect(try await fixture.call(AgentStatus()).accounts.map(\.state) == [.ok])
  }

  @Test("While it is locked, a file that cannot be used still gives its account a row, under the file's name")
  func unreadFile() async throws {
    let configuration = StaticConfiguration([.browser])
    let fixture = AgentFixture(configuration: configuration)
    try await fixture.logIn()
    _ = try await fixture.call(VaultLock())
    let problem = ConfigurationProblem(file: "/c/accounts.d/other.toml", line: 2, key: "bad", reason: "unknown key")
    let own = ConfigurationProblem(file: "/c/accounts.d/work.toml", line: 1, key: nil, reason: "a remark")
    let general = ConfigurationProblem(file: "/c/config.toml", line: 1, key: nil, reason: "bad")
    configuration.set([.browser], problems: [general, own, problem, problem])
    let listed = try await fixture.call(AccountList()).accounts
    #expect(listed.map(\.account) == ["work", "other"] && listed.map(\.state) == [.locked, .configInvalid])
    #expect(listed.last?.reason == problem.sentence && listed.last?.nextStep == ConfigurationProblem.edit)
    let first = try await fixture.call(AgentStatus(limit: 1))
    #expect(first.accounts.map(\.account) == ["work"])
    #expect(try await fixture.call(AgentStatus(after: first.next)).accounts.map(\.account) == ["other"])
  }

  @Test("An unlock that fails leaves it locked")
  func wrongPassphrase() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    _ = try await fixture.call(VaultLock())
    fixture.vault.fail(unlock: AgentFailure(.wrongPassphrase))
    #expect(await fixture.failure(VaultUnlock(passphrase: "x"))?.kind == .vaultLocked)
    #expect(await fixture.failure(TokenGet(account: "work"))?.kind == .vaultLocked)
    fixture.vault.fail(unlock: nil)
    _ = try await fixture.call(VaultUnlock(passphrase: "x"))
    #expect(await fixture.failure(TokenGet(account: "work")) == nil)
  }

  @Test(
    "Whoever waits for the server's clock when a lock comes is told of the lock at once, not that it has no account")
  func lockBesideAClock() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    fixture.clock.setWall(fixture.clock.now().wallSeconds + 5_000)
    fixture.transport.withServer { $0.options.delayMilliseconds[.metadata] = 20_000 }
    let asking = Task { await fixture.failure(TokenGet(account: "work", timeoutMilliseconds: 100_000)) }
    try await fixture.clock.sleepers(until: 20)
    let locking = Task { try await fixture.call(VaultLock()) }
    #expect(await asking.value?.kind == .vaultLocked)
    fixture.transport.withServer { $0.script(.metadata, .refuse) }
    fixture.clock.advance(by: 20)
    _ = try await locking.value
  }

  @Test("A refresh under way is waited for and made durable, while its callers and everybody else are told at once")
  func drains() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    fixture.transport.withServer { $0.options.delayMilliseconds[.token] = 20_000 }
    fixture.clock.advance(by: 3_601)
    let asking = Task { await fixture.failure(TokenGet(account: "work", timeoutMilliseconds: 100_000)) }
    try await fixture.clock.sleepers(until: 20)
    let locking = Task { try await fixture.call(VaultLock()) }
    #expect(await asking.value?.kind == .vaultLocked)
    try await eventually("the wish is durable") { fixture.vault.steps == ["hold"] }
    #expect(await fixture.failure(TokenGet(account: "work"))?.kind == .vaultLocked)
    let puts = fixture.store.puts
    fixture.clock.advance(by: 20)
    #expect(try await locking.value.drained)
    #expect(fixture.vault.steps == ["hold", "lock"])
    #expect(fixture.store.puts == puts + 1)
    let request = TokenLine.Request(id: .number(1), account: "work")
    #expect(fixture.router.readyAnswer(to: request, from: fixture.caller) == nil, "the new token is not published")
    let refreshes = fixture.refreshes
    _ = try await fixture.call(VaultUnlock(passphrase: "x"))
    #expect(try await fixture.isGood(fixture.call(TokenGet(account: "work")).accessToken))
    #expect(fixture.refreshes == refreshes, "the answer that was on its way was kept")
  }

  /// The vault is locked while a request is open, and the answer comes after that.
  private func answerComesAfterLock(_ fixture: AgentFixture) async throws {
    fixture.transport.withServer { $0.options.delayMilliseconds[.token] = 500_000 }
    fixture.clock.advance(by: 3_601)
    let asking = Task { await fixture.failure(TokenGet(account: "work")) }
    try await fixture.clock.sleepers(until: 500)
    let locking = Task { try await fixture.call(VaultLock()) }
    try await fixture.clock.sleepers(until: CredentialService.lockDrainSeconds)
    fixture.clock.advance(by: CredentialService.lockDrainSeconds)
    #expect(try await !locking.value.drained)
    #expect(await asking.value?.kind == .vaultLocked)
    fixture.clock.advance(by: 500)
    try await eventually("the answer is laid aside") { fixture.store.waitingLateAnswers.count == 1 }
    fixture.transport.withServer { $0.options.delayMilliseconds[.token] = 0 }
  }

  @Test("What came after the lock waits sealed, and is taken in before anything is sent; it is sent twice in no case")
  func late() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    try await answerComesAfterLock(fixture)
    _ = try await fixture.call(VaultUnlock(passphrase: "x"))
    #expect(try await fixture.isGood(fixture.call(TokenGet(account: "work")).accessToken))
    try await eventually("and removed") { fixture.store.waitingLateAnswers.isEmpty }
    #expect(fixture.refreshes == 2, "the one whose answer came late, and one with what it brought")
  }

  @Test("What waits for the newest vault is not removed by a look into an older one, which it says nothing to")
  func lateBesideOlderVault() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    for _ in 0..<2 {
      fixture.clock.advance(by: 3_601)
      _ = try await fixture.call(TokenGet(account: "work"))
    }
    // As it was between the two refreshes.
    let older = fixture.store.history.prefix(3)
    try await answerComesAfterLock(fixture)
    for rollback in [9, nil] as [UInt64?] {
      let restarted = fixture.restarted(store: MemoryStore(Array(older), rolledBackFrom: rollback))
      for late in fixture.store.waitingLateAnswers {
        try await restarted.store.lateAnswerStore?.put(late.payload, for: late.record)
      }
      #expect(restarted.store.waitingLateAnswers.count == 1)
      _ = try await restarted.call(AccountList())
      await restarted.service.drain(seconds: 1)
      let isOld = rollback != nil
      try await eventually("it is removed where the vault counts") {
        restarted.store.waitingLateAnswers.isEmpty != isOld
      }
    }
  }

  @Test("An unlock while a request of before the lock is open sends nothing beside it, and takes its answer")
  func adopted() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    fixture.transport.withServer { $0.options.delayMilliseconds[.token] = 500_000 }
    fixture.clock.advance(by: 3_601)
    let asking = Task { await fixture.failure(TokenGet(account: "work")) }
    try await fixture.clock.sleepers(until: 500)
    let locking = Task { try await fixture.call(VaultLock()) }
    try await fixture.clock.sleepers(until: CredentialService.lockDrainSeconds)
    fixture.clock.advance(by: CredentialService.lockDrainSeconds)
    _ = try await locking.value
    _ = await asking.value
    fixture.transport.withServer { $0.options.delayMilliseconds[.token] = 0 }
    _ = try await fixture.call(VaultUnlock(passphrase: "x"))
    let second = Task { try await fixture.call(TokenGet(account: "work", timeoutMilliseconds: 600_000)).accessToken }
    try await fixture.clock.sleepers(until: 600)
    #expect(fixture.refreshes == 1)
    fixture.clock.advance(by: 440)
    #expect(try await fixture.isGood(second.value))
    #expect(fixture.refreshes == 1, "one refresh, before the lock and after it")
  }

  @Test("Of a crowd that waits for its turn nothing is sent after the lock, and nothing was written")
  func crowd() async throws {
    let names = (0..<40).map { "a\($0)" }
    let fixture = AgentFixture(
      names.map { name in
        .browser.changed {
          $0.name = name
          $0.file = "/etc/accounts.d/\(name).toml"
        }
      })
    for name in names { try await fixture.logIn(name) }
    fixture.transport.withServer { $0.options.delayMilliseconds[.token] = 25_000 }
    fixture.clock.advance(by: 3_601)
    let (before, puts) = (fixture.refreshes, fixture.store.puts)
    let asking = names.map { name in Task { await fixture.failure(TokenGet(account: name)) } }
    try await eventually("the first are sent") { fixture.refreshes - before >= 8 }
    let sent = fixture.refreshes - before
    let intents = fixture.store.puts - puts
    #expect(sent < 40 && intents == sent, "as many intents as requests")
    let locking = Task { try await fixture.call(VaultLock()) }
    for task in asking { #expect(await task.value?.kind == .vaultLocked) }
    fixture.clock.advance(by: 25)
    #expect(try await locking.value.drained)
    #expect(fixture.refreshes - before == sent)
    fixture.transport.withServer { $0.options.delayMilliseconds[.token] = 0 }
    _ = try await fixture.call(VaultUnlock(passphrase: "x"))
    for name in names { #expect(try await fixture.isGood(fixture.call(TokenGet(account: name)).accessToken)) }
    #expect(fixture.refreshes - before == 40)
  }

  @Test("A request that waits for its place when a lock comes leaves the queue, and is not sent when a place is free")
  func queue() async throws {
    let fixture = try await AgentFixture.loggedIn()
    let held = try await fixture.service.takeTheOnlyPlace()
    let waiting = Task { await fixture.service.place(.searches, .person) }
    try await eventually("it waits") { await fixture.service.waitingForPlaces == 1 }
    let locking = Task { try await fixture.call(VaultLock()) }
    try await eventually("it leaves the queue") { await fixture.service.waitingForPlaces == 0 }
    #expect(await waiting.value == nil)
    await fixture.service.giveBack(held)
    #expect(try await locking.value.drained)
  }

  @Test("A server that does not answer within a minute does not keep the vault open, and that is said")
  func drainEnds() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    fixture.transport.withServer { $0.options.delayMilliseconds[.token] = 500_000 }
    fixture.clock.advance(by: 3_601)
    let asking = Task { await fixture.failure(TokenGet(account: "work")) }
    try await fixture.clock.sleepers(until: 500)
    let first = Task { try await fixture.call(VaultLock()) }
    try await fixture.clock.sleepers(until: CredentialService.lockDrainSeconds)
    let second = Task { try await fixture.call(VaultLock()) }
    fixture.clock.advance(by: CredentialService.lockDrainSeconds)
    #expect(try await !first.value.drained)
    #expect(try await fixture.vault.steps.filter { $0 == "hold" }.count <= 1 + (second.value.drained ? 1 : 0))
    #expect(await asking.value?.kind == .vaultLocked)
    let puts = fixture.store.puts
    fixture.clock.advance(by: 500)
    for _ in 0..<1_000 { await Task.yield() }
    #expect(fixture.store.puts == puts, "an answer that comes later finds nobody")
    #expect(fixture.router.readyAnswer(to: .init(id: .number(1), account: "work"), from: fixture.caller) == nil)
  }

  @Test("A login under way ends with the lock")
  func login() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    let started = try await fixture.start(request: "two")
    let waiting = Task { await fixture.failure(LoginWait(loginID: started.loginID)) }
    _ = try await fixture.call(VaultLock())
    #expect([.vaultLocked, .badRequest].contains(await waiting.value?.kind))
    #expect(try await fixture.call(AgentStatus()).accounts.map(\.state) == [.locked])
  }

  @Test(
    "A lock that could not be remembered forgets everything all the same, and says so; another agent's vault is left")
  func cannotHold() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    fixture.vault.fail(hold: AgentFailure(.storageFailed, "disk"))
    #expect(await fixture.failure(VaultLock())?.kind == .storageFailed)
    #expect(await fixture.failure(TokenGet(account: "work"))?.kind == .vaultLocked)
    let other = AgentFixture()
    other.vault.fail(hold: AgentFailure(.vaultInUse, "held"))
    #expect(await other.failure(VaultLock())?.kind == .vaultInUse)
    #expect(other.vault.steps == ["hold"])
  }

  @Test("A vault that could not be taken hold of is told with its reason, and not as locked")
  func notLocked() async throws {
    let fixture = AgentFixture()
    let failure = AgentFailure(.storageFailed, "read-only")
    fixture.store.failLoads(Array(repeating: .storageFailed("read-only"), count: 10))
    fixture.vault.setFailed(true)
    fixture.vault.fail(hold: failure)
    fixture.vault.fail(lock: failure)
    #expect(await fixture.failure(VaultLock())?.kind == .storageFailed)
    #expect(await fixture.failure(TokenGet(account: "work"))?.kind == .storageFailed)
  }

  @Test("An agent that starts on a locked vault lists what is defined")
  func startsLocked() async throws {
    let fixture = AgentFixture()
    fixture.store.failLoads(Array(repeating: .locked, count: 10))
    #expect(try await fixture.call(AgentStatus()).accounts.map(\.state) == [.locked])
    #expect(try await fixture.call(AccountList()).accounts.map(\.account) == ["work"])
    #expect(await fixture.failure(TokenGet(account: "work"))?.kind == .vaultLocked)
    #expect(await fixture.failure(AccountShow(account: "work"))?.kind == .vaultLocked)
  }
}
