import CSQLite
import Glibc

/// An SQLite call that did not give what it should.
struct SQLiteFailure: Error {
  /// The extended result code.
  let code: Int32
  let text: String
  /// The folder of the database, where its disk has no room.
  private(set) var fullFolder: String?

  /// The failure that `connection` has just met.
  init(_ code: Int32, _ connection: OpaquePointer?, during operation: String) {
    self.code = code
    let meaning = String(cString: sqlite3_errstr(code))
    var text = "\(operation): \(meaning)"
    if let connection {
      let message = String(cString: sqlite3_errmsg(connection))
      if message != meaning { text += " (\(message))" }
      let system = sqlite3_system_errno(connection)
      if system != 0 && code & 0xff != SQLITE_CORRUPT { text += ", \(String(cString: strerror(system)))" }
      if code & 0xff == SQLITE_FULL, let path = sqlite3_db_filename(connection, nil) {
        fullFolder = PrivateDirectory.parent(of: String(cString: path))
      }
    }
    self.text = text
  }

  /// A value that is not of the type, or a setting not of the value, it must have.
  init(unexpected what: String) {
    code = SQLITE_MISMATCH
    text = what
  }

  /// Codes that say something about the bytes are damage, the others about the machine.
  var vaultError: VaultError {
    switch code & 0xff {
    case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT, SQLITE_MISMATCH, SQLITE_TOOBIG, SQLITE_ERROR, SQLITE_SCHEMA,
      SQLITE_CONSTRAINT, SQLITE_RANGE:
      .damaged(what: "database: \(text)")
    case SQLITE_BUSY, SQLITE_LOCKED: .inUse(pid: 0, socket: nil)
    case SQLITE_FULL: .noRoom(folder: fullFolder, "no room on the disk of vault.db (SQLite: \(text))")
    default: .storageFailed("SQLite: \(text)")
    }
  }
}

/// Runs `body`, giving its SQLite failures as the vault's.
func judged<Result: ~Copyable>(_ body: () throws(SQLiteFailure) -> Result) throws(VaultError) -> Result {
  do throws(SQLiteFailure) { return try body() } catch { throw error.vaultError }
}
