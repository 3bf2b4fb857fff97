import Glibc
import Sealing
import Testing

@testable import TokenVault

@Suite("The vault knows when it is older than it should be")
struct RollbackTests {
  let scratch: Scratch

  init() throws { scratch = try Scratch() }

  /// Commits 2 to 4, then puts back the state after commit 2.
  private func rolledBack() async throws -> Vault {
    let vault = scratch.vault()
    try await vault.put(.sample(1, version: 1))
    await vault.close()
    let backup = try scratch.read(scratch.location.databaseFile)
    try await vault.put(.sample(1, version: 2))
    try await vault.put(.sample(1, version: 3))
    await vault.close()
    try scratch.write(backup, to: scratch.location.databaseFile)
    return vault
  }

  @Test("A vault put back from a backup loads and says so, over restarts and writes, until accepted")
  func backup() async throws {
    let vault = try await rolledBack()
    #expect(try await vault.held() == [Held(.sample(1, version: 1))])
    #expect(await vault.isRolledBack)
    #expect(await vault.status().rollback == Rollback(found: 2, expected: 4))
    for version in UInt64(10)...15 { try await vault.put(.sample(2, version: version)) }
    #expect(await vault.isRolledBack)
    await vault.close()
    #expect(try await vault.held().count == 2)
    #expect(await vault.isRolledBack, "the vault itself remembers, although it has caught up with the counter")
    try await vault.acceptRollback()
    #expect(!(await vault.isRolledBack))
    await vault.close()
    #expect(try await vault.held().count == 2)
    #expect(!(await vault.isRolledBack))
  }

  @Test("After an accepted rollback the commits count on from the higher of the two")
  func accepted() async throws {
    let vault = try await rolledBack()
    _ = try await vault.loadAll()
    try await vault.acceptRollback()
    await vault.close()
    _ = try await vault.loadAll()
    #expect(!(await vault.isRolledBack))
    #expect(await vault.status().commit == 5)
    #expect(try await vault.counterOutside() == .commit(5))
  }

  @Test("Accepting where nothing was rolled back changes nothing")
  func nothingToAccept() async throws {
    let vault = scratch.vault()
    try await vault.put(.sample(1))
    try await vault.acceptRollback()
    #expect(await vault.status().commit == 2)
  }

  @Test(
    "A counter that is missing, cut or foreign is made anew and reported", arguments: ["missing", "cut", "foreign"])
  func counterProblems(what: String) async throws {
    let vault = scratch.vault()
    try await vault.put(.sample(1))
    await vault.close()
    let path = scratch.location.counterFile
    switch what {
    case "missing": #expect(unlink(path) == 0)
    case "cut": try scratch.write([1, 2, 3], to: path)
    default:
      let other = try Scratch()
      try await other.vault().put(.sample(1))
      try scratch.write(other.read(other.location.counterFile), to: path)
    }
    #expect(try await vault.held().count == 1)
    let status = await vault.status()
    #expect(status.rollback == nil)
    #expect(status.counterProblem?.contains(path) == true)
    await vault.close()
    _ = try await vault.loadAll()
    #expect(await vault.status().counterProblem == nil)
  }

  @Test("A torn counter write leaves the one before, which is no rollback")
  func tornCounter() async throws {
    let vault = scratch.vault()
    for version in UInt64(1)...4 { try await vault.put(.sample(1, version: version)) }
    await vault.close()
    let path = scratch.location.counterFile
    var bytes = try scratch.read(path)
    #expect(bytes.count == 128)
    bytes[64 + 20] ^= 1  // commit 5 stands in the odd place
    try scratch.write(bytes, to: path)
    #expect(try await vault.held().count == 1)
    #expect(await vault.status().rollback == nil)
    #expect(await vault.status().counterProblem == nil)
  }

  @Test("A counter that cannot be written costs no record, only a line in the status")
  func unwritableCounter() async throws {
    let vault = scratch.vault()
    try await vault.put(.sample(1))
    let path = scratch.location.counterFile
    #expect(unlink(path) == 0)
    #expect(mkdir(path, 0o700) == 0)
    try await vault.put(.sample(2))
    #expect(await vault.status().counterProblem != nil)
    await vault.close()
    #expect(try await vault.held().count == 2)
  }
}

extension Vault {
  func counterOutside() throws(VaultError) -> CommitCounter.Reading? { try session?.counter.read() }
}
