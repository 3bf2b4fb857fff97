import AgentCore
import AgentTestSupport
import AgentWire
import DevAuthorizationServer
import Testing
import TokenVault

@Suite("Locking")
struct LockTests {
  @Test("After a lock nobody is given anything and nothing is known but the files; an unlock brings all of it back")
  func lockAndUnlock() async throws {
    let bench = Bench()
    try await bench.logIn()
    let token = try await bench.call(TokenGet(account: "work")).accessToken
    let answer = try await bench.call(VaultLock())
    #expect(answer == VaultLockAnswer(state: .locked, sealed: false, drained: true))
    #expect(bench.vault.steps == ["hold", "lock"])
    let request = TokenLine.Request(id: .number(1), account: "work")
    #expect(bench.router.readyAnswer(to: request, from: bench.caller) == nil)
    #expect(await bench.failure(TokenGet(account: "work"))?.kind == .vaultLocked)
    #expect(
      await bench.failure(TokenReject(account: "work", rejected: RejectedToken(token: token)))?.kind == .vaultLocked)
    #expect(await bench.failure(LoginStart(requestID: "two", account: "work"))?.kind == .vaultLocked)
    #expect(await bench.failure(Logout(account: "work"))?.kind == .vaultLocked)
    let status = try await bench.call(AgentStatus())
    #expect(status.accounts.map(\.state) == [.locked])
    #expect(status.accounts.map(\.accountID) == [nil])
    #expect(status.counts == ["accounts": 1])
    #expect(status.vault.state == .locked)
    let refreshes = bench.refreshes
    bench.clock.advance(by: 86_400)
    #expect(bench.refreshes == refreshes && bench.clock.wakes.isEmpty, "its plan ended with it")
    bench.clock.advance(by: -86_400)

    #expect(try await bench.call(VaultUnlock(passphrase: "x")).state == .open)
    #expect(try await bench.call(TokenGet(account: "work")).accessToken == token)
    #expect(try await bench.call(AgentStatus()).accounts.map(\.state) == [.ok])
  }

  @Test("An unlock that fails leaves it locked")
  func wrongPassphrase() async throws {
    let bench = Bench()
    try await bench.logIn()
    _ = try await bench.call(VaultLock())
    bench.vault.fail(unlock: AgentFailure(.wrongPassphrase))
    #expect(await bench.failure(VaultUnlock(passphrase: "x"))?.kind == .vaultLocked)
    #expect(await bench.failure(TokenGet(account: "work"))?.kind == .vaultLocked)
    bench.vault.fail(unlock: nil)
    _ = try await bench.call(VaultUnlock(passphrase: "x"))
    #expect(await bench.failure(TokenGet(account: "work")) == nil)
  }

  @Test(
    "Whoever waits for the server's clock when a lock comes is told of the lock at once, not that it has no account")
  func lockBesideAClock() async throws {
    let bench = Bench()
    try await bench.logIn()
    bench.clock.setWall(bench.clock.now().wallSeconds + 5_000)
    bench.transport.withServer { $0.options.delayMilliseconds[.metadata] = 20_000 }
    let asking = Task { await bench.failure(TokenGet(account: "work", timeoutMilliseconds: 100_000)) }
    try await bench.clock.sleepers(until: 20)
    let locking = Task { try await bench.call(VaultLock()) }
    #expect(await asking.value?.kind == .vaultLocked)
    bench.transport.withServer { $0.script(.metadata, .refuse) }
    bench.clock.advance(by: 20)
    _ = try await locking.value
  }

  @Test("A refresh under way is waited for and made durable, while its callers and everybody else are told at once")
  func drains() async throws {
    let bench = Bench()
    try await bench.logIn()
    bench.transport.withServer { $0.options.delayMilliseconds[.token] = 20_000 }
    bench.clock.advance(by: 3_601)
    let asking = Task { await bench.failure(TokenGet(account: "work", timeoutMilliseconds: 100_000)) }
    try await bench.clock.sleepers(until: 20)
    let locking = Task { try await bench.call(VaultLock()) }
    #expect(await asking.value?.kind == .vaultLocked)
    try await eventually("the wish is durable") { bench.vault.steps == ["hold"] }
    #expect(await bench.failure(TokenGet(account: "work"))?.kind == .vaultLocked)
    let puts = bench.store.puts
    bench.clock.advance(by: 20)
    #expect(try await locking.value.drained)
    #expect(bench.vault.steps == ["hold", "lock"])
    #expect(bench.store.puts == puts + 1)
    let request = TokenLine.Request(id: .number(1), account: "work")
    #expect(bench.router.readyAnswer(to: request, from: bench.caller) == nil, "the new token is not published")
    let refreshes = bench.refreshes
    _ = try await bench.call(VaultUnlock(passphrase: "x"))
    #expect(try await bench.isGood(bench.call(TokenGet(account: "work")).accessToken))
    #expect(bench.refreshes == refreshes, "the answer that was on its way was kept")
  }

  @Test("What came after the lock waits sealed, and is taken in before anything is sent; it is sent twice in no case")
  func late() async throws {
    let bench = Bench()
    try await bench.logIn()
    bench.transport.withServer { $0.options.delayMilliseconds[.token] = 500_000 }
    bench.clock.advance(by: 3_601)
    let asking = Task { await bench.failure(TokenGet(account: "work")) }
    try await bench.clock.sleepers(until: 500)
    let locking = Task { try await bench.call(VaultLock()) }
    try await bench.clock.sleepers(until: CredentialService.lockDrainSeconds)
    bench.clock.advance(by: CredentialService.lockDrainSeconds)
    #expect(try await !locking.value.drained)
    #expect(await asking.value?.kind == .vaultLocked)
    bench.clock.advance(by: 500)
    try await eventually("the answer is laid aside") { bench.store.waitingLetters.count == 1 }
    bench.transport.withServer { $0.options.delayMilliseconds[.token] = 0 }
    _ = try await bench.call(VaultUnlock(passphrase: "x"))
    #expect(try await bench.isGood(bench.call(TokenGet(account: "work")).accessToken))
    try await eventually("and removed") { bench.store.waitingLetters.isEmpty }
    #expect(bench.refreshes == 2, "the one whose answer came late, and one with what it brought")
  }

  @Test("An unlock while a request of before the lock is open sends nothing beside it, and takes its answer")
  func adopted() async throws {
    let bench = Bench()
    try await bench.logIn()
    bench.transport.withServer { $0.options.delayMilliseconds[.token] = 500_000 }
    bench.clock.advance(by: 3_601)
    let asking = Task { await bench.failure(TokenGet(account: "work")) }
    try await bench.clock.sleepers(until: 500)
    let locking = Task { try await bench.call(VaultLock()) }
    try await bench.clock.sleepers(until: CredentialService.lockDrainSeconds)
    bench.clock.advance(by: CredentialService.lockDrainSeconds)
    _ = try await locking.value
    _ = await asking.value
    bench.transport.withServer { $0.options.delayMilliseconds[.token] = 0 }
    _ = try await bench.call(VaultUnlock(passphrase: "x"))
    let second = Task { try await bench.call(TokenGet(account: "work", timeoutMilliseconds: 600_000)).accessToken }
    try await bench.clock.sleepers(until: 600)
    #expect(bench.refreshes == 1)
    bench.clock.advance(by: 440)
    #expect(try await bench.isGood(second.value))
    #expect(bench.refreshes == 1, "one refresh, before the lock and after it")
  }

  @Test("Of a crowd that waits for its turn nothing is sent after the lock, and nothing was written")
  func crowd() async throws {
    let names = (0..<40).map { "a\($0)" }
    let bench = Bench(
      names.map { name in
        .browser.changed {
          $0.name = name
          $0.file = "/etc/accounts.d/\(name).toml"
        }
      })
    for name in names { try await bench.logIn(name) }
    bench.transport.withServer { $0.options.delayMilliseconds[.token] = 25_000 }
    bench.clock.advance(by: 3_601)
    let (before, puts) = (bench.refreshes, bench.store.puts)
    let asking = names.map { name in Task { await bench.failure(TokenGet(account: name)) } }
    try await eventually("the first are sent") { bench.refreshes - before >= 8 }
    let sent = bench.refreshes - before
    let intents = bench.store.puts - puts
    #expect(sent < 40 && intents == sent, "as many intents as requests")
    let locking = Task { try await bench.call(VaultLock()) }
    for task in asking { #expect(await task.value?.kind == .vaultLocked) }
    bench.clock.advance(by: 25)
    #expect(try await locking.value.drained)
    #expect(bench.refreshes - before == sent)
    bench.transport.withServer { $0.options.delayMilliseconds[.token] = 0 }
    _ = try await bench.call(VaultUnlock(passphrase: "x"))
    for name in names { #expect(try await bench.isGood(bench.call(TokenGet(account: name)).accessToken)) }
    #expect(bench.refreshes - before == 40)
  }

  @Test("A server that does not answer within a minute does not keep the vault open, and that is said")
  func drainEnds() async throws {
    let bench = Bench()
    try await bench.logIn()
    bench.transport.withServer { $0.options.delayMilliseconds[.token] = 500_000 }
    bench.clock.advance(by: 3_601)
    let asking = Task { await bench.failure(TokenGet(account: "work")) }
    try await bench.clock.sleepers(until: 500)
    let first = Task { try await bench.call(VaultLock()) }
    try await bench.clock.sleepers(until: CredentialService.lockDrainSeconds)
    let second = Task { try await bench.call(VaultLock()) }
    bench.clock.advance(by: CredentialService.lockDrainSeconds)
    #expect(try await !first.value.drained)
    #expect(try await bench.vault.steps.filter { $0 == "hold" }.count <= 1 + (second.value.drained ? 1 : 0))
    #expect(await asking.value?.kind == .vaultLocked)
    let puts = bench.store.puts
    bench.clock.advance(by: 500)
    for _ in 0..<1_000 { await Task.yield() }
    #expect(bench.store.puts == puts, "an answer that comes later finds nobody")
    #expect(bench.router.readyAnswer(to: .init(id: .number(1), account: "work"), from: bench.caller) == nil)
  }

  @Test("A login under way ends with the lock")
  func login() async throws {
    let bench = Bench()
    try await bench.logIn()
    let started = try await bench.start(request: "two")
    let waiting = Task { await bench.failure(LoginWait(loginID: started.loginID)) }
    _ = try await bench.call(VaultLock())
    #expect([.vaultLocked, .badRequest].contains(await waiting.value?.kind))
    #expect(try await bench.call(AgentStatus()).accounts.map(\.state) == [.locked])
  }

  @Test(
    "A lock that could not be remembered forgets everything all the same, and says so; another agent's vault is left")
  func cannotHold() async throws {
    let bench = Bench()
    try await bench.logIn()
    bench.vault.fail(hold: AgentFailure(.storageFailed, "disk"))
    #expect(await bench.failure(VaultLock())?.kind == .storageFailed)
    #expect(await bench.failure(TokenGet(account: "work"))?.kind == .vaultLocked)
    let other = Bench()
    other.vault.fail(hold: AgentFailure(.vaultInUse, "held"))
    #expect(await other.failure(VaultLock())?.kind == .vaultInUse)
    #expect(other.vault.steps == ["hold"])
  }

  @Test("An agent that starts on a locked vault lists what is defined")
  func startsLocked() async throws {
    let bench = Bench()
    bench.store.failLoads(Array(repeating: .locked, count: 10))
    #expect(try await bench.call(AgentStatus()).accounts.map(\.state) == [.locked])
    #expect(try await bench.call(AccountList()).accounts.map(\.account) == ["work"])
    #expect(await bench.failure(TokenGet(account: "work"))?.kind == .vaultLocked)
    #expect(await bench.failure(AccountShow(account: "work"))?.kind == .vaultLocked)
  }
}
