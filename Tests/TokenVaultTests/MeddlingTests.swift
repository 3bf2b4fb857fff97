import Glibc
import Sealing
import Testing

@testable import TokenVault

/// Changes that SQLite takes for good ones: only the seals and the catalogue can find them.
@Suite("The vault finds rows that were moved, kept back, added or taken away")
struct MeddlingTests {
  let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private func fill() async throws {
    let vault = scratch.vault()
    for name in UInt8(1)...3 { try await vault.put(.sample(name)) }
    await vault.close()
  }

  private func edit(_ statements: String...) throws {
    let connection = try SQLiteConnection(path: scratch.location.databaseFile)
    for statement in statements { try connection.run(statement) }
  }

  private func damage() async -> String? {
    do throws(VaultError) {
      _ = try await scratch.vault().loadAll()
      return nil
    } catch {
      guard case .damaged(_, let what) = error else { return "not damaged but \(error)" }
      return what
    }
  }

  @Test("A missing row")
  func missing() async throws {
    try await fill()
    try edit("DELETE FROM record WHERE row_key = (SELECT max(row_key) FROM record)")
    #expect(await damage()?.contains("its row is missing") == true)
  }

  @Test("All rows missing")
  func allMissing() async throws {
    try await fill()
    try edit("DELETE FROM record")
    #expect(await damage()?.contains("its row is missing") == true)
  }

  @Test("A row too many")
  func extra() async throws {
    try await fill()
    try edit("INSERT INTO record SELECT zeroblob(32), sealed FROM record LIMIT 1")
    #expect(await damage() == "1 rows that the catalogue does not know")
  }

  @Test("Two rows swapped")
  func swapped() async throws {
    try await fill()
    try edit(
      """
      UPDATE record SET sealed = CASE row_key WHEN (SELECT min(row_key) FROM record)
        THEN (SELECT sealed FROM record ORDER BY row_key DESC LIMIT 1)
        ELSE (SELECT sealed FROM record ORDER BY row_key LIMIT 1) END
      WHERE row_key IN ((SELECT min(row_key) FROM record), (SELECT max(row_key) FROM record))
      """)
    #expect(await damage()?.contains("changed, or replaced by another or an older one") == true)
  }

  @Test("A vault with a record that does not open counts as damaged, and is begun anew when that is asked for")
  func anew() async throws {
    try await fill()
    try edit("UPDATE record SET sealed = zeroblob(length(sealed))")
    let vault = scratch.vault()
    await #expect(throws: VaultError.self) { try await vault.loadAll() }
    guard case .failed(.damaged(.contents, _)) = await vault.status().state else {
      Issue.record("it is told as open")
      return
    }
    await #expect { try await vault.create() } throws: { error in
      if case VaultError.damaged(.contents, _) = error { true } else { false }
    }
    _ = try await vault.create(anew: true)
    #expect(try await vault.loadAll().isEmpty)
    await vault.close()
  }

  @Test("A lock does not hide that a record was found damaged, nor keep anybody from beginning anew")
  func lockedDamage() async throws {
    try await fill()
    try edit("UPDATE record SET sealed = zeroblob(length(sealed))")
    let vault = scratch.vault()
    await #expect(throws: VaultError.self) { try await vault.loadAll() }
    try await vault.lock()
    await #expect(throws: VaultError.locked) { try await vault.loadAll() }
    guard case .failed(.damaged(.contents, _)) = await vault.status().state else {
      Issue.record("it is told as locked, and no more")
      return
    }
    _ = try await vault.create(anew: true)
    #expect(try await vault.loadAll().isEmpty)
    await vault.close()
  }

  @Test("A vault whose records open is not begun anew")
  func notAnew() async throws {
    try await fill()
    let vault = scratch.vault()
    await #expect(throws: VaultError.alreadyExists(path: scratch.location.databaseFile)) {
      try await vault.create(anew: true)
    }
    #expect(try await vault.loadAll().count == 3)
    await vault.close()
  }

  @Test("One row put back to what it was before")
  func olderRow() async throws {
    try await fill()
    let before = try scratch.read(scratch.location.databaseFile)
    let vault = scratch.vault()
    for name in UInt8(1)...3 { try await vault.put(.sample(name, version: 2)) }
    await vault.close()
    let old = scratch.path + "/old.db"
    try scratch.write(before, to: old)
    var rows: [(name: [UInt8], sealed: [UInt8])] = []
    try SQLiteConnection(path: old).rows("SELECT row_key, sealed FROM record LIMIT 1") { (row) throws(SQLiteFailure) in
      rows.append((try row.blob(0), try row.blob(1)))
    }
    let row = try #require(rows.first)
    let connection = try SQLiteConnection(path: scratch.location.databaseFile)
    try connection.run("UPDATE record SET sealed = ? WHERE row_key = ?", [.blob(row.sealed), .blob(row.name)])
    #expect(connection.changedRowCount == 1)
    _ = consume connection
    #expect(await damage()?.contains("an older one") == true)
  }

  @Test("A deleted record's row put back for a new one of the same id and version")
  func resurrectedRow() async throws {
    try await fill()
    var old: [UInt8] = []
    let read: (SQLiteConnection) throws(SQLiteFailure) -> Void = { (connection) throws(SQLiteFailure) in
      try connection.rows("SELECT sealed FROM record") { (row) throws(SQLiteFailure) in old = try row.blob(0) }
    }
    let vault = scratch.vault()
    for name in UInt8(2)...3 { try await vault.delete(VaultRecord.sample(name).id) }
    await vault.close()
    try read(SQLiteConnection(path: scratch.location.databaseFile))
    try await vault.delete(VaultRecord.sample(1).id)
    try await vault.put(.sample(1))
    await vault.close()
    let connection = try SQLiteConnection(path: scratch.location.databaseFile)
    try connection.run("UPDATE record SET sealed = ?", [.blob(old)])
    _ = consume connection
    #expect(await damage()?.contains("an older one") == true)
  }

  @Test(
    "Tables, triggers, views and indexes that are not ours",
    arguments: [
      "CREATE TABLE more (x)", "CREATE INDEX i ON slot (kind)", "CREATE VIEW v AS SELECT 1",
      "CREATE TRIGGER t AFTER UPDATE ON meta BEGIN DELETE FROM record; END",
      "INSERT INTO meta VALUES ('more', x'00')", "DELETE FROM meta WHERE name = 'format'",
      "ALTER TABLE slot ADD more INTEGER",
      "PRAGMA application_id=7", "PRAGMA journal_mode=DELETE",
    ])
  func structure(statement: String) async throws {
    try await fill()
    try edit(statement)
    #expect(await damage()?.hasPrefix("database: ") == true)
  }

  @Test(
    "A recovery slot that was changed or removed shows in the status, while the key file still opens",
    arguments: [
      "UPDATE slot SET passes = 3 WHERE number = 2", "UPDATE slot SET sealed = zeroblob(72) WHERE number = 2",
      "DELETE FROM slot WHERE number = 2",
    ])
  func slots(statement: String) async throws {
    try await fill()
    try edit(statement)
    let vault = scratch.vault()
    #expect(try await vault.held().count == 3)
    let status = await vault.status()
    #expect(status.slots.map(\.number) == [1, 2])
    #expect(status.slots.map(\.isIntact) == [true, false])
  }

  @Test("A log without its database, and a rollback journal, are not left to SQLite")
  func strayFiles() async throws {
    try await fill()
    let path = scratch.location.databaseFile
    try scratch.write([0], to: path + "-journal")
    #expect(await damage()?.contains("-journal") == true)
    #expect(unlink(path + "-journal") == 0)
    #expect(await damage() == nil)
    try scratch.write([0], to: path + "-wal")
    #expect(unlink(path) == 0)
    #expect(await damage()?.contains("its log is not") == true)
    await #expect(throws: VaultError.self) { try await scratch.vault().put(.sample(9)) }
    #expect(access(path, F_OK) != 0)
  }
}
