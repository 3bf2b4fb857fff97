import AgentTestSupport
import AgentWire
import Testing
import TokenVault

@testable import AgentCore

@Suite("A vault in the place of one that is gone")
struct AnewTests {
  private let bench = Bench()

  /// A refresh gave a new refresh token that neither the vault nor another place took.
  private func rotateUnsaved() async throws {
    try await bench.logIn()
    bench.vault.setGone()
    bench.clock.advance(by: 3_601)
    bench.store.setGone(fromPut: 2)
    bench.store.failSpills()
    #expect(await bench.failure(TokenGet(account: "work"))?.kind == .vaultDamaged)
    #expect(bench.refreshes == 1)
  }

  /// The last refresh token is there: it is saved by and by, and gives the next.
  private func isRefreshed() async throws {
    bench.clock.advance(by: 60)
    try await eventually("it is saved") { await bench.failure(TokenGet(account: "work")) == nil }
    bench.clock.advance(by: 3_601)
    #expect(try await bench.isGood(bench.call(TokenGet(account: "work")).accessToken))
    #expect(bench.refreshes == 2)
  }

  private func begin() -> Task<VaultCreateAnswer?, Never> {
    Task { try? await bench.call(VaultCreate(anew: true)) }
  }

  @Test("Where the old one is back in that moment, nothing that only memory has is forgotten")
  func back() async throws {
    try await rotateUnsaved()
    #expect(await begin().value?.created == false)
    bench.store.setGone(fromPut: nil)
    try await isRefreshed()
  }

  @Test("Nor where the disk takes no new one")
  func diskFails() async throws {
    try await rotateUnsaved()
    bench.vault.onCreate { .failure(AgentFailure(.storageFailed, "disk")) }
    #expect(await bench.failure(VaultCreate(anew: true))?.kind == .storageFailed)
    bench.store.setGone(fromPut: nil)
    try await isRefreshed()
  }

  @Test("Two that meet come one after the other, and where the disk fails both, the agent serves on")
  func meeting() async throws {
    try await bench.logIn()
    bench.vault.setGone()
    bench.vault.onCreate { .failure(AgentFailure(.storageFailed, "disk")) }
    bench.vault.holdCreation(true)
    let first = begin()
    try await eventually("the first is at work") { bench.vault.creations == 1 }
    let second = begin()
    for _ in 0..<1_000 { await Task.yield() }
    #expect(bench.vault.creations == 1)
    bench.vault.holdCreation(false)
    #expect(await first.value == nil)
    #expect(await second.value == nil)
    #expect(bench.vault.creations == 2)
    #expect(await bench.failure(TokenGet(account: "work")) == nil)
  }

  @Test("What is to be saved while it is made goes into the old one or into none", arguments: [true, false])
  func meanwhile(isMade: Bool) async throws {
    try await bench.logIn()
    bench.vault.setGone()
    let store = bench.store
    bench.vault.onCreate {
      if isMade { store.replace() }
      return .success(isMade ? "code" : nil)
    }
    bench.vault.holdCreation(true)
    let making = begin()
    try await eventually("it is at work") { bench.vault.creations == 1 }
    let puts = bench.store.puts
    let saving = Task { await bench.failure(SecretSet(account: "work", kind: .clientSecret, value: "s")) }
    try await eventually("it is to be saved") { await !bench.service.changeWaiters.isEmpty }
    #expect(bench.store.puts == puts)
    bench.vault.holdCreation(false)
    #expect(await making.value?.recoveryCode == (isMade ? "code" : nil))
    #expect(await saving.value?.kind == (isMade ? .vaultLocked : nil))
    #expect(bench.store.puts == puts + (isMade ? 0 : 1))
    #expect(await bench.failure(TokenGet(account: "work"))?.kind == (isMade ? .loginRequired : nil))
    #expect(bench.store.count == (isMade ? 0 : 1))
  }
}
