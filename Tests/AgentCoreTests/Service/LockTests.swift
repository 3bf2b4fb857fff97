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

  @Test("A server that does not answer within a minute does not keep the vault open, and that is said")
  func drainEnds() async throws {
    let bench = Bench()
    try await bench.logIn()
    bench.transport.withServer { $0.options.delayMilliseconds[.token] = 500_000 }
    bench.clock.advance(by: 3_601)
    let asking = Task { await bench.failure(TokenGet(account: "work")) }
    try await bench.clock.sleepers(until: 500)
    let first = Task { try await bench.call(VaultLock()) }
    try await bench.clock.sleepers(until: 60)
    let second = Task { try await bench.call(VaultLock()) }
    bench.clock.advance(by: 60)
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
