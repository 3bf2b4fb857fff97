import AgentTestSupport
import AgentWire
import Testing
import TokenVault

@testable import AgentCore

@Suite("A vault in the place of one that is gone")
struct AnewTests {
  private let fixture = AgentFixture()

  /// A refresh gave a new refresh token that neither the vault nor another place took.
  private func rotateUnsaved() async throws {
    try await fixture.logIn()
    fixture.vault.setGone()
    fixture.clock.advance(by: 3_601)
    fixture.store.setGone(fromPut: 2)
    fixture.store.failSpills()
    #expect(await fixture.failure(TokenGet(account: "work"))?.kind == .vaultDamaged)
    #expect(fixture.refreshes == 1)
  }

  /// The last refresh token is there: it is saved by and by, and gives the next.
  private func isRefreshed() async throws {
    try await eventually("it is saved") {
      // The next try may be planned only after this.
      fixture.clock.advance(by: 6)
      return await fixture.failure(TokenGet(account: "work")) == nil
    }
    fixture.clock.advance(by: 3_601)
    #expect(try await fixture.isGood(fixture.call(TokenGet(account: "work")).accessToken))
    #expect(fixture.refreshes == 2)
  }

  private func begin() -> Task<VaultCreateAnswer?, Never> {
    Task { try? await fixture.call(VaultCreate(anew: true)) }
  }

  @Test("Where the old one is back in that moment, nothing that only memory has is forgotten")
  func back() async throws {
    try await rotateUnsaved()
    #expect(await begin().value?.created == false)
    fixture.store.setGone(fromPut: nil)
    try await isRefreshed()
  }

  @Test("Nor where the disk takes no new one")
  func diskFails() async throws {
    try await rotateUnsaved()
    fixture.vault.onCreate { .failure(AgentFailure(.storageFailed, "disk")) }
    #expect(await fixture.failure(VaultCreate(anew: true))?.kind == .storageFailed)
    fixture.store.setGone(fromPut: nil)
    try await isRefreshed()
  }

  @Test("Two that meet come one after the other, and where the disk fails both, the agent serves on")
  func meeting() async throws {
    try await fixture.logIn()
    fixture.vault.setGone()
    fixture.vault.onCreate { .failure(AgentFailure(.storageFailed, "disk")) }
    fixture.vault.holdCreation(true)
    let first = begin()
    try await eventually("the first is at work") { fixture.vault.creations == 1 }
    let second = begin()
    for _ in 0..<1_000 { await Task.yield() }
    #expect(fixture.vault.creations == 1)
    fixture.vault.holdCreation(false)
    #expect(await first.value == nil)
    #expect(await second.value == nil)
    #expect(fixture.vault.creations == 2)
    #expect(await fixture.failure(TokenGet(account: "work")) == nil)
  }

  @Test("What is to be saved while it is made goes into the old one or into none", arguments: [true, false])
  func meanwhile(isMade: Bool) async throws {
    try await fixture.logIn()
    fixture.vault.setGone()
    let store = fixture.store
    fixture.vault.onCreate {
      if isMade { store.replace() }
      return .success(isMade ? "code" : nil)
    }
    fixture.vault.holdCreation(true)
    let making = begin()
    try await eventually("it is at work") { fixture.vault.creations == 1 }
    let puts = fixture.store.puts
    let saving = Task { await fixture.failure(SecretSet(account: "work", kind: .clientSecret, value: "s")) }
    try await eventually("it is to be saved") { await !fixture.service.waiters.changes.isEmpty }
    #expect(fixture.store.puts == puts)
    fixture.vault.holdCreation(false)
    #expect(await making.value?.recoveryCode == (isMade ? "code" : nil))
    #expect(await saving.value?.kind == (isMade ? .vaultLocked : nil))
    #expect(fixture.store.puts == puts + (isMade ? 0 : 1))
    #expect(await fixture.failure(TokenGet(account: "work"))?.kind == (isMade ? .loginRequired : nil))
    #expect(fixture.store.count == (isMade ? 0 : 1))
  }
}
