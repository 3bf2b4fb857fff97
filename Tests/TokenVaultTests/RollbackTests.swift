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
    #expect(await vault.rollback != nil)
    #expect(await vault.status().rollback == Rollback(found: 2, expected: 4))
    for version in UInt64(10)...15 { try await vault.put(.sample(2, version: version)) }
    #expect(await vault.rollback != nil)
    await vault.close()
    #expect(try await vault.held().count == 2)
    #expect(await vault.rollback != nil, "the vault itself remembers, although it has caught up with the counter")
    try await vault.acceptRollback()
    #expect(await vault.rollback == nil)
    await vault.close()
    #expect(try await vault.held().count == 2)
    #expect(await vault.rollback == nil)
  }

  @Test("What is accepted is the rollback that somebody was asked about, and no other")
  func asked() async throws {
    let vault = try await rolledBack()
    _ = try await vault.loadAll()
    let now = VaultError.rollbackChanged(Rollback(found: 2, expected: 4))
    await #expect(throws: now) { try await vault.acceptRollback(found: 3, expected: 4) }
    await #expect(throws: now) { try await vault.acceptRollback(found: 2, expected: 5) }
    // Another one may be as old.
    await #expect(throws: now) { try await vault.acceptRollback(found: 2, expected: 4, digest: "00") }
    #expect(await vault.rollback != nil)
    let digest = try #require(await vault.status().rollbackDigest)
    try await vault.acceptRollback(found: 2, expected: 4, digest: digest)
    #expect(await vault.rollback == nil)
  }

  @Test("What is written before a rollback is accepted is known to be after it, and a second rollback is noticed")
  func secondRollback() async throws {
    let vault = try await rolledBack()
    _ = try await vault.loadAll()
    try await vault.put(.sample(2, version: 1))
    #expect(await vault.status().commit == 5, "none is given twice")
    await vault.close()
    let afterFirst = try scratch.read(scratch.location.databaseFile)
    for _ in 0..<2 {
      _ = try await vault.loadAll()
      #expect(await vault.rolledBackFrom == 4)
      #expect(try await vault.counterOutside() == .commit(5))
      await vault.close()
    }
    try await vault.put(.sample(2, version: 2))
    #expect(await vault.rolledBackFrom == 4)
    await vault.close()
    try scratch.write(afterFirst, to: scratch.location.databaseFile)
    _ = try await vault.loadAll()
    #expect(await vault.rolledBackFrom == 6)
    try await vault.acceptRollback()
    #expect(await vault.status().commit == 7)
  }

  @Test("A counter that is lost goes on with the next commit, and the rollback stays the same one")
  func lostCounterGoesOn() async throws {
    let vault = scratch.vault()
    try await vault.put(.sample(1))
    await vault.close()
    try await lose(.missing)
    for version in UInt64(1)...2 {
      try await vault.put(.sample(2, version: version))
      #expect(await vault.rolledBackFrom == 3)
      await vault.close()
    }
    try await lose(.missing)
    _ = try await vault.loadAll()
    #expect(await vault.rolledBackFrom == 6)
  }

  @Test("After an accepted rollback the commits count on from the higher of the two")
  func accepted() async throws {
    let vault = try await rolledBack()
    _ = try await vault.loadAll()
    try await vault.acceptRollback()
    await vault.close()
    _ = try await vault.loadAll()
    #expect(await vault.rollback == nil)
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

  /// What can become of the counter's file.
  enum Loss: CaseIterable { case missing, cut, foreign, readable, folder }

  private func lose(_ loss: Loss) async throws {
    let path = scratch.location.counterFile
    switch loss {
    case .missing: #expect(unlink(path) == 0)
    case .cut: try scratch.write([1, 2, 3], to: path)
    case .foreign:
      let other = try Scratch()
      try await other.vault().put(.sample(1))
      try scratch.write(other.read(other.location.counterFile), to: path)
    case .readable: #expect(chmod(path, 0o644) == 0)
    case .folder: #expect(unlink(path) == 0 && mkdir(path, 0o700) == 0)
    }
  }

  @Test("A counter that is lost is a rollback until accepted, and is not made anew before", arguments: Loss.allCases)
  func lostCounter(loss: Loss) async throws {
    let vault = scratch.vault()
    try await vault.put(.sample(1))
    await vault.close()
    try await lose(loss)
    for _ in 0..<2 {
      #expect(try await vault.held().count == 1)
      let rollback = try #require(await vault.status().rollback)
      let why: String
      switch rollback.cause {
      case .counterLost(let text), .counterUnreadable(let text): why = text
      case .older:
        Issue.record("\(rollback)")
        return
      }
      #expect(rollback.found == 2 && rollback.expected > 2 && why.contains(scratch.location.counterFile))
      await vault.close()
    }
    _ = try await vault.loadAll()
    if loss == .readable || loss == .folder {
      // What could not be remembered is not accepted.
      await #expect(throws: VaultError.self) { try await vault.acceptRollback() }
      #expect(await vault.rollback != nil)
      #expect(rmdir(scratch.location.counterFile) == 0 || chmod(scratch.location.counterFile, 0o600) == 0)
    }
    try await vault.acceptRollback()
    await vault.close()
    for _ in 0..<2 {
      #expect(try await vault.held().count == 1)
      #expect(await vault.status().rollback == nil)
      #expect(await vault.status().counterProblem == nil)
      await vault.close()
    }
  }

  @Test("An old vault whose commits go on while the counter is lost is not hidden by the counter that comes back")
  func counterComesBack() async throws {
    let vault = try await rolledBack()
    let counter = try scratch.read(scratch.location.counterFile)
    try await lose(.missing)
    _ = try await vault.loadAll()
    for version in UInt64(10)...20 { try await vault.put(.sample(2, version: version)) }
    await vault.close()
    try scratch.write(counter, to: scratch.location.counterFile)
    _ = try await vault.loadAll()
    #expect(await vault.rollback != nil)
  }

  @Test(
    "A vault in which nothing was kept yet is not rolled back, whatever becomes of the counter",
    arguments: Loss.allCases)
  func fresh(loss: Loss) async throws {
    let vault = scratch.vault()
    _ = try await vault.create()
    #expect(await vault.status().counterProblem == nil)
    await vault.close()
    try await lose(loss)
    #expect(try await vault.held().isEmpty)
    #expect(await vault.status().rollback == nil)
    #expect(await vault.status().counterProblem?.contains(scratch.location.counterFile) == true)
    if loss == .readable || loss == .folder { return }
    try await vault.put(.sample(1))
    await vault.close()
    #expect(try await vault.held().count == 1)
    #expect(await vault.status().rollback == nil)
    #expect(await vault.status().counterProblem == nil)
  }

  @Test(
    "A counter that can be read again is read again: a good vault goes on, an old one is told as old",
    arguments: [false, true])
  func readableAgain(isOld: Bool) async throws {
    let path = scratch.location.counterFile
    let vault = isOld ? try await rolledBack() : scratch.vault()
    if !isOld { try await vault.put(.sample(1)) }
    await vault.close()
    #expect(chmod(path, 0o666) == 0)
    _ = try await vault.loadAll()
    guard case .counterUnreadable = await vault.rollback?.cause else {
      Issue.record("it is not told as a counter that cannot be read")
      return
    }
    #expect(await vault.rolledBackFrom != nil)
    #expect(chmod(path, 0o600) == 0)
    let (expected, cause) = (await vault.rolledBackFrom, await vault.status().rollback?.cause)
    #expect((expected != nil) == isOld && cause == (isOld ? .older : nil))
  }
}
