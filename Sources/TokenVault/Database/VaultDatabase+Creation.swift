import CSQLite
import Glibc

/// What a new database holds.
struct DatabaseContents {
  let vaultID: [UInt8]
  let slots: [Slot]
  /// Sealed.
  let catalogue: [UInt8]
  /// The records' rows, each made when it is written; nil after the last.
  var nextRow: () throws(VaultError) -> (name: [UInt8], sealed: [UInt8])? = { () throws(VaultError) in nil }
}

extension VaultDatabase {
  /// Makes `vault.db` in `directory`, whole or not at all, durable when it returns. The caller holds the lock and has
  /// seen that there is none.
  static func create(
    in directory: borrowing FileDescriptor, path: String, _ contents: DatabaseContents
  ) throws(VaultError) {
    try write(in: directory, VaultLocation.draftName, path: path + ".new", contents)
    try PrivateFile.publish(in: directory, VaultLocation.draftName, as: VaultLocation.databaseName, path)
  }

  /// Writes a whole database as `name`, in place of one that is there, and flushes it. It has no log.
  static func write(
    in directory: borrowing FileDescriptor, _ name: String, path: String, _ contents: DatabaseContents
  ) throws(VaultError) {
    try remove(in: directory, name, path: path)
    // SQLite would make it readable for others; it takes an empty file as a new database.
    guard let file = try PrivateFile.open(in: directory, name, path, flags: O_RDWR | O_CREAT | O_EXCL) else {
      throw .system("create", path)
    }
    _ = consume file
    var rowFailure: VaultError?
    do throws(SQLiteFailure) {
      let connection = try SQLiteConnection(path: path)
      try set(connection, "synchronous", "FULL", reads: 2)
      try connection.transaction { () throws(SQLiteFailure) in
        try connection.run("PRAGMA application_id=\(VaultFormat.applicationID)")
        try connection.run("PRAGMA user_version=\(VaultFormat.version)")
        for table in VaultFormat.tables { try connection.run(table.sql) }
        for (name, value) in [
          ("format", encodedFormat(VaultFormat.version)), ("vault_id", contents.vaultID),
          ("catalogue", contents.catalogue),
        ] {
          try connection.run("INSERT INTO meta (name, value) VALUES (?, ?)", [.text(name), .blob(value)])
        }
        for slot in contents.slots { try insert(slot, into: connection) }
        while let row = try nextRow(of: contents, &rowFailure) {
          try connection.run(
            "INSERT INTO record (row_key, sealed) VALUES (?, ?)", [.blob(row.name), .blob(row.sealed)])
        }
      }
      guard try connection.pragmaText("journal_mode=WAL") == "wal" else {
        throw SQLiteFailure(SQLITE_MISUSE, nil, during: "PRAGMA journal_mode=WAL did not take")
      }
    } catch { throw rowFailure ?? error.vaultError }
    guard let file = try PrivateFile.open(in: directory, name, path, flags: O_RDWR) else {
      throw .system("open", path)
    }
    guard fsync(file.number) == 0 else { throw .system("fsync", path) }
  }

  private static func nextRow(
    of contents: DatabaseContents, _ failure: inout VaultError?
  ) throws(SQLiteFailure) -> (name: [UInt8], sealed: [UInt8])? {
    do throws(VaultError) { return try contents.nextRow() } catch {
      failure = error
      throw SQLiteFailure(unexpected: "a row that could not be made")
    }
  }

  /// Removes a database that is not the vault, and its logs. None there is no error.
  static func remove(in directory: borrowing FileDescriptor, _ name: String, path: String) throws(VaultError) {
    for leftover in [name, name + "-wal", name + "-journal"] {
      guard unlinkat(directory.number, leftover, 0) == 0 || errno == ENOENT else { throw .system("unlink", path) }
    }
  }

  /// Gives the database `name`, written and judged, the vault's name. The vault's own log must be gone: SQLite would
  /// play it into the new one.
  static func replace(in directory: borrowing FileDescriptor, by name: String, path: String) throws(VaultError) {
    let log = VaultLocation.databaseName + "-wal"
    guard try PrivateFile.status(in: directory, log, path + "-wal") == nil,
      try PrivateFile.status(in: directory, name + "-wal", path + ".new-wal") == nil
    else { throw .storageFailed("\(path)-wal could not be folded in") }
    guard fsync(directory.number) == 0 else { throw .system("fsync the folder of", path) }
    guard renameat(directory.number, name, directory.number, VaultLocation.databaseName) == 0 else {
      throw .system("rename to", path)
    }
  }
}
