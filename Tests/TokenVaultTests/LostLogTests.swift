import Glibc
import Testing

@testable import TokenVault

/// What SQLite writes into a log that has no name any more is gone with the process.
@Suite("Files of an open vault that somebody takes away or changes")
struct LostLogTests {
  private static let name = "data/oauthctl/vault.db-wal"

  @Test(
    "What was written before and after survives a kill",
    arguments: [false, true], ["looked at", "written", "written while it is locked"])
  func lost(isReplaced: Bool, then: String) async throws {
    let scratch = try Scratch()
    let vault = scratch.vault()
    try await vault.put(.sample(1))
    try await vault.put(.sample(2))
    let log = "\(scratch.path)/\(Self.name)"
    let before = try scratch.read(log)
    unlink(log)
    if isReplaced { try scratch.write(before, to: log) }
    let expected: [UInt8]
    switch then {
    case "looked at":
      #expect(await vault.status().state == .open)
      expected = [1, 2]
    case "written":
      for name in UInt8(3)...4 { try await vault.put(.sample(name)) }
      expected = [1, 2, 3, 4]
    default:
      _ = try await vault.hold()
      try await vault.put(.sample(3))
      _ = await vault.status()
      try await vault.put(.sample(4))
      expected = [1, 2, 3, 4]
    }
    // As a kill leaves them.
    let files = try scratch.files().filter { !$0.key.hasSuffix(".held") }
    await vault.close()
    try scratch.restore(files)
    let again = scratch.vault()
    #expect(try await again.held() == expected.map { Held(.sample($0)) })
    #expect(await again.rollback == nil)
  }

  @Test(
    "One that is cut or overwritten in place is noticed before anything is written behind it, after a kill, too",
    arguments: ["cut", "overwritten", "overwritten behind its head"], [false, true])
  func changedInPlace(how: String, afterKill: Bool) async throws {
    let scratch = try Scratch()
    var vault = scratch.vault()
    try await vault.put(.sample(1))
    try await vault.put(.sample(2))
    if afterKill {
      let files = try scratch.files()
      await vault.close()
      try scratch.restore(files)
      vault = scratch.vault()
      #expect(try await vault.held().count == 2)
    }
    let log = "\(scratch.path)/\(Self.name)"
    let written = try scratch.read(log)
    switch how {
    case "cut": try scratch.write([], to: log)
    case "overwritten": try scratch.write([UInt8](repeating: 7, count: 2 * written.count), to: log)
    default: try scratch.write(written.prefix(32) + [UInt8](repeating: 7, count: written.count - 32), to: log)
    }
    let error = await #expect(throws: VaultError.self) { try await vault.put(.sample(3)) }
    #expect(error == .replaced(path: scratch.location.databaseFile))
    #expect(try await vault.held().isEmpty)
    #expect(await vault.rollback != nil, "nothing is refreshed now")
  }

  /// Takes the log away from a vault with one record, and puts a folder in its place, which no rename replaces.
  private static func takeLog(of vault: Vault, _ scratch: Scratch) async throws -> String {
    try await vault.put(.sample(1))
    let log = "\(scratch.path)/\(name)"
    unlink(log)
    #expect(mkdir(log, 0o700) == 0)
    return log
  }

  @Test("Where a lost log cannot be put back nothing is written, and nothing is lost once it can be")
  func blocked() async throws {
    let scratch = try Scratch()
    let vault = scratch.vault()
    let log = try await Self.takeLog(of: vault, scratch)
    for _ in 0..<2 { await #expect(throws: VaultError.self) { try await vault.put(.sample(2)) } }
    #expect(await vault.status().state == .open)
    #expect(await vault.status().filesProblem?.contains("vault.db-wal") == true)
    #expect(rmdir(log) == 0)
    try await vault.put(.sample(3))
    #expect(await vault.status().filesProblem == nil)
    let files = try scratch.files().filter { !$0.key.hasSuffix(".held") }
    await vault.close()
    try scratch.restore(files)
    #expect(try await scratch.vault().held() == [Held(.sample(1)), Held(.sample(3))])
  }

  @Test("A file that others may read closes no open vault, and is written again once they may not")
  func opened() async throws {
    let scratch = try Scratch()
    let vault = scratch.vault()
    try await vault.put(.sample(1))
    #expect(chmod(scratch.location.databaseFile, 0o644) == 0)
    await #expect(throws: VaultError.self) { try await vault.put(.sample(2)) }
    #expect(await vault.status().state == .open)
    #expect(chmod(scratch.location.databaseFile, 0o600) == 0)
    try await vault.put(.sample(3))
    #expect(try await vault.held() == [Held(.sample(1)), Held(.sample(3))])
  }

  @Test("A lock does not throw a lost log away that cannot be put back")
  func locked() async throws {
    let scratch = try Scratch()
    let vault = scratch.vault()
    let log = try await Self.takeLog(of: vault, scratch)
    await #expect(throws: VaultError.self) { try await vault.lock() }
    #expect(await vault.status().state != .open)
    await #expect(throws: VaultError.self) { try await vault.unlock() }
    #expect(rmdir(log) == 0)
    _ = try await vault.unlock()
    #expect(try await vault.held() == [Held(.sample(1))])
    #expect(await vault.rollback == nil)
  }

  @Test("A lost log is put beside no other database", arguments: [false, true])
  func moved(isReplaced: Bool) async throws {
    let scratch = try Scratch()
    let vault = scratch.vault()
    try await vault.put(.sample(1))
    let folder = "\(scratch.path)/data/oauthctl"
    let before = try scratch.read(folder + "/vault.db")
    #expect(rename(folder + "/vault.db", folder + "/away.db") == 0)
    unlink(folder + "/vault.db-wal")
    if isReplaced { try scratch.write(before, to: folder + "/vault.db") }
    await vault.close()
    #expect(access(folder + "/vault.db-wal", F_OK) != 0)
  }
}
