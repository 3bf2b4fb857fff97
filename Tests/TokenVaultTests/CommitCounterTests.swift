import Glibc
import Testing

@testable import TokenVault

@Suite("The counter outside the vault is torn, lost or written again without harm")
struct CommitCounterTests {
  let scratch: Scratch

  init() throws { scratch = try Scratch() }

  @Test("A kill between a commit and its counter is no rollback")
  func killedBeforeCounter() async throws {
    let vault = scratch.vault()
    try await vault.put(.sample(1))
    for version in UInt64(2)...5 {
      let before = try scratch.read(scratch.location.counterFile)
      try await vault.put(.sample(1, version: version))
      await vault.close()
      try scratch.write(before, to: scratch.location.counterFile)
      #expect(try await vault.held().count == 1)
      #expect(await vault.status().rollback == nil)
      #expect(await vault.status().counterProblem == nil)
      #expect(try await vault.counterOutside() == .commit(version + 1))
    }
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

  @Test("A counter that can be written again is no trouble any more, without another commit")
  func writableAgain() async throws {
    let vault = scratch.vault()
    try await vault.put(.sample(1))
    let path = scratch.location.counterFile
    #expect(chmod(path, 0o666) == 0)
    try await vault.put(.sample(2))
    #expect(await vault.status().counterProblem?.contains("could be read or changed by others") == true)
    #expect(chmod(path, 0o600) == 0)
    let status = await vault.status()
    #expect(status.counterProblem == nil && status.rollback == nil)
    let commit = try #require(status.commit)
    #expect(try await vault.counterOutside() == .commit(commit))
  }

  @Test(
    "A counter that can be read again is not written over where it is ahead, though the vault has but its first commit")
  func aheadOfTheFirst() async throws {
    let (vault, path) = (scratch.vault(), scratch.location.counterFile)
    _ = try await vault.create()
    await vault.close()
    let first = try scratch.read(scratch.location.databaseFile)
    try await vault.put(.sample(1))
    try await vault.put(.sample(1, version: 2))
    await vault.close()
    try scratch.write(first, to: scratch.location.databaseFile)
    #expect(chmod(path, 0o666) == 0)
    _ = try await vault.loadAll()
    #expect(await vault.status().counterProblem != nil)
    #expect(chmod(path, 0o600) == 0)
    #expect(await vault.status().rollback == Rollback(found: 1, expected: 3))
    #expect(try await vault.counterOutside() == .commit(3))
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
    #expect(await vault.rollback != nil)
  }
}

extension Vault {
  func counterOutside() throws(VaultError) -> CommitCounter.Reading? { try session?.counter.read() }
}
