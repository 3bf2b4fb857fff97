import CSQLite
import Testing

@testable import TokenVault

@Suite("What SQLite keeps of the vault")
struct SQLiteMemoryTests {
  let scratch: Scratch

  init() throws { scratch = try Scratch() }

  /// The connection of a vault, opened as the vault does it.
  private func connection(records: UInt8 = 1, size: Int = 100) async throws -> SQLiteConnection {
    let vault = scratch.vault()
    for number in 1...records { try await vault.put(.sample(number, size: size)) }
    await vault.close()
    let location = scratch.location
    guard let directory = try PrivateDirectory.open(location.directory, isSecret: true),
      let database = try VaultDatabase.open(in: directory, path: location.databaseFile)
    else { throw VaultError.absent }
    try database.eachRowName { _ in }
    return database.connection
  }

  @Test(
    "Deleted rows are overwritten, sorting takes no file, the file is not mapped, pages in memory are few",
    arguments: [("secure_delete", 1), ("temp_store", 2), ("mmap_size", 0), ("cache_size", -32)])
  func settings(pragma: String, value: Int64) async throws {
    #expect(try await connection().pragmaInteger(pragma) == value)
  }

  @Test("A vault that is read whole leaves no more than a few pages")
  func cache() async throws {
    let connection = try await connection(records: 50, size: 16_000)
    _ = try connection.pragmaText("integrity_check")
    let file = Int(try #require(try connection.pragmaInteger("page_count"))) * 4_096
    #expect(file > 512 * 1_024)
    var used: Int32 = 0
    var peak: Int32 = 0
    #expect(sqlite3_db_status(connection.handle, SQLITE_DBSTATUS_CACHE_USED, &used, &peak, 0) == SQLITE_OK)
    #expect(used < 128 * 1_024)
  }
}
