import Glibc
import Testing

@testable import TokenVault

/// What SQLite writes into a log that has no name any more is gone with the process.
@Suite("The log of an open vault that somebody takes away")
struct LostLogTests {
  private static let name = "data/oauthctl/vault.db-wal"

  @Test(
    "What was written before and after survives a kill",
    arguments: [false, true], [false, true])
  func lost(isReplaced: Bool, isOnlyLookedAt: Bool) async throws {
    let scratch = try Scratch()
    let vault = scratch.vault()
    try await vault.put(.sample(1))
    try await vault.put(.sample(2))
    let log = "\(scratch.path)/\(Self.name)"
    let before = try scratch.read(log)
    unlink(log)
    if isReplaced { try scratch.write(before, to: log) }
    if isOnlyLookedAt {
      #expect(await vault.status().state == .open)
    } else {
      try await vault.put(.sample(3))
    }
    // As a kill leaves them.
    let files = try scratch.files()
    let held = try await vault.held()
    #expect(held.count == (isOnlyLookedAt ? 2 : 3))
    await vault.close()
    try scratch.restore(files)
    let again = scratch.vault()
    #expect(try await again.held() == held)
    #expect(await again.rollback == nil)
  }
}
