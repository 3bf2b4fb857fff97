import AgentTestSupport
import Sealing
import Testing

@testable import TokenVault

/// What every store promises. The agent's tests stand on the store in memory, and what holds for that one has to hold for
/// the vault.
@Suite("The contract of stores", .serialized)
struct StoreContractTests {
  /// The stores that there are.
  enum Kind: CaseIterable {
    case vault, memory
  }

  /// A store, and what is left of it when its program has ended.
  private struct Place {
    let scratch: Scratch
    var store: any RecordStore

    init(_ kind: Kind) throws {
      scratch = try Scratch()
      store = MemoryStore()
      if kind == .vault { store = vault() }
    }

    private func vault() -> Vault {
      let location = scratch.location
      return Vault(
        location: VaultLocation(
          directory: location.directory, keyFile: location.keyFile, counterFile: location.counterFile,
          asideDirectories: ["\(scratch.path)/run"]),
        socketPathForLock: "\(scratch.path)/agent.sock", recoveryCost: .cheap, now: { 0 })
    }

    /// The program starts again.
    mutating func reopen() async {
      guard let open = store as? Vault else { return }
      await open.close()
      store = vault()
    }

    func held() async throws -> [Held] { try await store.loadAll().map { Held($0) } }

    func lateAnswers() async throws -> [String] { try await store.lateAnswers().map { $0.payload.reveal() } }
  }

  private let first = VaultRecord.sample(1).id
  private let second = VaultRecord.sample(2).id

  @Test("nothing is there before the first record, and nothing is missing", arguments: Kind.allCases)
  func empty(kind: Kind) async throws {
    let place = try Place(kind)
    #expect(try await place.held().isEmpty)
    try await place.store.delete(first)
    #expect(try await place.lateAnswers().isEmpty)
    try await place.store.removeLateAnswers(of: first)
    #expect(await place.store.lateAnswerStore == nil)
    #expect(await place.store.rolledBackFrom == nil)
  }

  @Test("what was put is there from then on, in the order of ids", arguments: Kind.allCases)
  func durable(kind: Kind) async throws {
    var place = try Place(kind)
    for name in [3, 1, 2] as [UInt8] { try await place.store.put(.sample(name)) }
    let records = [1, 2, 3].map { Held(.sample($0)) }
    #expect(try await place.held() == records)
    await place.reopen()
    #expect(try await place.held() == records)
  }

  @Test("a greater version replaces, and no other: who has the stored one is told it", arguments: Kind.allCases)
  func versions(kind: Kind) async throws {
    var place = try Place(kind)
    try await place.store.put(.sample(1, version: 5))
    try await place.store.put(.sample(1, version: 7, size: 900))
    for version in [7, 6, 1] as [UInt64] {
      await #expect(throws: VaultError.staleVersion(stored: 7)) {
        try await place.store.put(.sample(1, version: version))
      }
    }
    #expect(try await place.held() == [Held(.sample(1, version: 7, size: 900))])
    await place.reopen()
    await #expect(throws: VaultError.staleVersion(stored: 7)) { try await place.store.put(.sample(1, version: 7)) }
  }

  @Test("what was deleted is gone, and its id is free again", arguments: Kind.allCases)
  func deleted(kind: Kind) async throws {
    var place = try Place(kind)
    try await place.store.put(.sample(1, version: 5))
    try await place.store.put(.sample(2))
    try await place.store.delete(first)
    await place.reopen()
    #expect(try await place.held() == [Held(.sample(2))])
    try await place.store.put(.sample(1, version: 1))
    #expect(try await place.held() == [Held(.sample(1)), Held(.sample(2))])
  }

  @Test("a record that is too large is refused, and the one before stays", arguments: Kind.allCases)
  func tooLarge(kind: Kind) async throws {
    let place = try Place(kind)
    try await place.store.put(.sample(1, size: VaultRecord.maximumPayloadCount))
    await #expect(throws: VaultError.self) {
      try await place.store.put(.sample(1, version: 2, size: VaultRecord.maximumPayloadCount + 1))
    }
    #expect(try await place.held().map(\.version) == [1])
  }

  @Test("many puts at once all arrive", arguments: Kind.allCases)
  func atOnce(kind: Kind) async throws {
    let place = try Place(kind)
    let store = place.store
    try await withThrowingTaskGroup(of: Void.self) { group in
      for name in UInt8(0)..<20 { group.addTask { try await store.put(.sample(name)) } }
      try await group.waitForAll()
    }
    #expect(try await place.held() == (0..<20).map { Held(.sample($0)) })
  }

  @Test(
    "what was kept aside takes the place of what is older, and gives way to what is put later", arguments: Kind.allCases
  )
  func aside(kind: Kind) async throws {
    var place = try Place(kind)
    try await place.store.put(.sample(1))
    try await place.store.spill(.sample(1, version: 2, size: 300))
    await place.reopen()
    let back = try await place.held()
    #expect(back.map(\.payload) == [VaultRecord.sample(1, version: 2, size: 300).payload])
    let version = try #require(back.first?.version)
    #expect(version >= 2)
    try await place.store.put(.sample(1, version: version + 1, size: 7))
    await place.reopen()
    #expect(try await place.held() == [Held(.sample(1, version: version + 1, size: 7))])
  }

  @Test("what was kept aside does not replace what is newer, nor outlive its record", arguments: Kind.allCases)
  func asideIsOver(kind: Kind) async throws {
    var place = try Place(kind)
    try await place.store.put(.sample(1, version: 3))
    try await place.store.spill(.sample(1, version: 2))
    await place.reopen()
    #expect(try await place.held() == [Held(.sample(1, version: 3))])
    try await place.store.spill(.sample(1, version: 4))
    try await place.store.delete(first)
    #expect(try await place.held().isEmpty)
    try await place.store.put(.sample(1, version: 1))
    await place.reopen()
    #expect(try await place.held() == [Held(.sample(1))])
  }

  @Test("late answers come back oldest first, until those that were read are removed", arguments: Kind.allCases)
  func lateAnswers(kind: Kind) async throws {
    var place = try Place(kind)
    try await place.store.put(.sample(1))
    try await place.store.put(.sample(2))
    let box = try #require(await place.store.lateAnswerStore)
    for number in 1...3 { try await box.put(Secret("late answer \(number)"), for: number == 2 ? second : first) }
    try await place.store.removeLateAnswers(of: first)
    await place.reopen()
    #expect(
      try await place.lateAnswers() == ["late answer 1", "late answer 2", "late answer 3"], "nobody had read them")
    try await box.put(Secret("late answer 4"), for: first)
    try await place.store.removeLateAnswers(of: first)
    #expect(
      try await place.lateAnswers() == ["late answer 2", "late answer 4"], "the last one came after they were read")
    try await place.store.delete(first)
    #expect(try await place.lateAnswers() == ["late answer 2"])
  }
}
