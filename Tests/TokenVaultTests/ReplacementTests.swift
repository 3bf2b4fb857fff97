import Glibc
import Sealing
import Testing

@testable import TokenVault

@Suite("Another vault in the place of the open one")
struct ReplacementTests {
  let scratch: Scratch

  init() throws { scratch = try Scratch() }

  /// Puts `bytes` over the open vault's database, as mv does, without its log.
  private func putOver(_ bytes: [UInt8]) throws {
    let path = scratch.location.databaseFile
    try scratch.write(bytes, to: path + ".draft")
    #expect(rename(path + ".draft", path) == 0)
    unlink(path + "-wal")
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
    #expect(found.records.map { Held($0) } == [Held(.sample(1))] && found.newer.isEmpty)
    #expect(found.rolledBackFrom == 3)
    #expect(try await vault.replacement() == nil, "once")
    try await vault.put(.sample(2))
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

  @Test("of two that were both written to, each row's commit tells which is newer")
  func newer() async throws {
    let vault = scratch.vault()
    for number in 1...3 { try await vault.put(.sample(UInt8(number))) }
    let older = try await copy(of: vault)
    try await vault.put(.sample(1, version: 7))
    try await vault.put(.sample(4))
    let newest = try await copy(of: vault)
    await vault.close()
    try putOver(older)
    _ = try await vault.loadAll()
    try await vault.acceptRollback()
    try await vault.put(.sample(2, version: 2))
    try putOver(newest)
    let found = try #require(try await vault.replacement())
    #expect(found.newer == [VaultRecord.sample(1).id, VaultRecord.sample(4).id])
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
