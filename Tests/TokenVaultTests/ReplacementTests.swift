import Glibc
import Sealing
import Testing

@testable import TokenVault

@Suite("Another vault in the place of the open one")
struct ReplacementTests {
  let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private init(scratch: Scratch) { self.scratch = scratch }

  /// Puts `bytes` over the open vault's database, as mv does, without its log.
  private func putOver(_ bytes: [UInt8]) throws {
    let path = scratch.location.databaseFile
    try scratch.write(bytes, to: path + ".draft")
    #expect(rename(path + ".draft", path) == 0)
    unlink(path + "-wal")
  }

  /// The same with the vault closed, which is opened then.
  private func start(_ vault: Vault, over bytes: [UInt8]) async throws {
    await vault.close()
    try putOver(bytes)
    _ = try await vault.loadAll()
  }

  /// The database of a vault that was closed, and is open again.
  private func copy(of vault: Vault) async throws -> [UInt8] {
    await vault.close()
    let bytes = try scratch.read(scratch.location.databaseFile)
    _ = try await vault.loadAll()
    return bytes
  }

  @Test("nothing is written before whoever has read the vault was told; then everything is")
  func told() async throws {
    let vault = scratch.vault()
    try await vault.put(.sample(1))
    let older = try await copy(of: vault)
    try await vault.put(.sample(2))
    #expect(try await vault.replacement() == nil)
    try putOver(older)
    let replaced = VaultError.replaced(path: scratch.location.databaseFile)
    await #expect(throws: replaced) { try await vault.put(.sample(3)) }
    await #expect(throws: replaced) { try await vault.delete(VaultRecord.sample(1).id) }
    await #expect(throws: VaultError.self) { _ = try await vault.rekey() }
    #expect(await vault.status().isAloneWithLast)
    let found = try #require(try await vault.replacement())
    #expect(found.records.map { Held($0) } == [Held(.sample(1))])
    #expect(found.commit == 2)
    #expect(found.rolledBackFrom == 3)
    await #expect(throws: replaced) { try await vault.put(.sample(2)) }
    await vault.replacementIsTaken(1)
    #expect(try await vault.replacement() == nil, "once")
    func made(after count: UInt64) -> VaultRecord {
      var record = VaultRecord.sample(2)
      record.replacements = count
      return record
    }
    let stale = made(after: 0)
    await #expect(throws: replaced) { try await vault.put(stale) }
    try await vault.put(made(after: 1))
    await vault.close()
    #expect(try await vault.held() == [Held(.sample(1)), Held(.sample(2))])
  }

  @Test("an older one is noticed where its counter was put back, too")
  func withCounter() async throws {
    let vault = scratch.vault()
    try await vault.put(.sample(1))
    let older = try await copy(of: vault)
    let counter = try scratch.read(scratch.location.counterFile)
    try await vault.put(.sample(1, version: 2))
    try putOver(older)
    try scratch.write(counter, to: scratch.location.counterFile)
    #expect(try await vault.replacement()?.rolledBackFrom == 3)
    await vault.close()
    _ = try await vault.loadAll()
    #expect(await vault.rolledBackFrom == nil, "by the next start nothing tells, but for what was written since")
  }

  @Test("of two that were both written to, the commits are told, and none is given twice")
  func newer() async throws {
    let vault = scratch.vault()
    for number in 1...3 { try await vault.put(.sample(UInt8(number))) }
    let older = try await copy(of: vault)
    try await vault.put(.sample(1, version: 7))
    try await vault.put(.sample(4))
    let newest = try await copy(of: vault)
    try await start(vault, over: older)
    try await vault.acceptRollback()
    try await vault.put(.sample(2, version: 2))
    try putOver(newest)
    let found = try #require(try await vault.replacement())
    #expect(found.commit == 6 && found.records.map(\.commit) == [5, 3, 4, 6])
    #expect(await vault.lastCommit == 8, "greater than all of both")
  }

  @Test("it is noticed, too, where an earlier rollback is not accepted yet")
  func whileRolledBack() async throws {
    let vault = scratch.vault()
    try await vault.put(.sample(1))
    let oldest = try await copy(of: vault)
    try await vault.put(.sample(1, version: 2))
    try await start(vault, over: oldest)
    #expect(await vault.rolledBackFrom == 3)
    try await vault.put(.sample(2))
    let older = try await copy(of: vault)
    let counter = try scratch.read(scratch.location.counterFile)
    try await vault.put(.sample(3))
    try putOver(older)
    try scratch.write(counter, to: scratch.location.counterFile)
    #expect(try await vault.replacement()?.rolledBackFrom == 5)
  }

  @Test("another one that comes while it is being told is told next")
  func twice() async throws {
    let vault = scratch.vault()
    try await vault.put(.sample(1))
    let oldest = try await copy(of: vault)
    try await vault.put(.sample(2))
    let older = try await copy(of: vault)
    try await vault.put(.sample(3))
    try putOver(older)
    _ = try #require(try await vault.replacement())
    try putOver(oldest)
    _ = await vault.status()
    await vault.replacementIsTaken(1)
    #expect(try await vault.replacement()?.records.count == 1)
  }

  @Test("one that is not accepted yet, with the same rows, is another one")
  func unaccepted() async throws {
    let vault = scratch.vault()
    try await vault.put(.sample(1))
    let older = try await copy(of: vault)
    try await vault.put(.sample(1, version: 2))
    try await start(vault, over: older)
    try await vault.acceptRollback()
    try putOver(older)
    #expect(try await vault.replacement()?.rolledBackFrom == 4)
  }

  @Test("nothing goes into one that the keys in memory do not open: it is damage, and told", arguments: [false, true])
  func otherVault(fromBeforeRekey: Bool) async throws {
    let vault = scratch.vault()
    try await vault.put(.sample(1))
    var other = try await copy(of: vault)
    let key = try scratch.read(scratch.location.keyFile)
    if fromBeforeRekey {
      _ = try await vault.rekey()
      try scratch.write(key, to: scratch.location.keyFile)
    } else {
      let another = try Scratch()
      let elsewhere = another.vault()
      try await elsewhere.put(.sample(2))
      other = try await ReplacementTests(scratch: another).copy(of: elsewhere)
      try scratch.write(another.read(another.location.keyFile), to: scratch.location.keyFile)
    }
    try putOver(other)
    for _ in 0..<2 { await #expect(throws: VaultError.self) { try await vault.put(.sample(3)) } }
    await #expect(throws: VaultError.self) { _ = try await vault.replacement() }
    #expect(await vault.status().state != .open)
    #expect(try scratch.read(scratch.location.databaseFile) == other)
    await vault.close()
    #expect(try await vault.held() == [Held(.sample(fromBeforeRekey ? 1 : 2))], "a start takes it as it is")
  }

  @Test("one that is put back before anybody looked, and a failed write that took effect, are none")
  func none() async throws {
    let vault = scratch.vault()
    try await vault.put(.sample(1))
    let older = try await copy(of: vault)
    try await vault.put(.sample(2))
    let right = try await copy(of: vault)
    try putOver(older)
    _ = await vault.status()
    try putOver(right)
    _ = await vault.status()
    #expect(try await vault.replacement() == nil)
    try await vault.put(.sample(3))
  }
}
