import CSQLite
import Glibc

extension VaultDatabase {
  /// Makes `vault.db` in `directory` with these slots and this catalogue, whole or not at all, durable when it returns.
  /// The caller holds the lock and has seen that there is none.
  static func create(
    in directory: borrowing FileDescriptor, path: String, vaultID: [UInt8], slots: [Slot], catalogue: [UInt8]
  ) throws(VaultError) {
    let name = VaultLocation.databaseName
    let draft = name + ".new"
    for leftover in [draft, draft + "-wal", draft + "-journal"] {
      guard unlinkat(directory.number, leftover, 0) == 0 || errno == ENOENT else {
        throw .system("unlink", path + ".new")
      }
    }
    // SQLite would make it readable for others; it takes an empty file as a new database.
    guard
      let file = try PrivateFile.open(in: directory, draft, path + ".new", flags: O_RDWR | O_CREAT | O_EXCL)
    else { throw .system("create", path + ".new") }
    _ = consume file
    try judged { () throws(SQLiteFailure) in
      let connection = try SQLiteConnection(path: path + ".new")
      try set(connection, "synchronous", "FULL", reads: 2)
      try connection.transaction { () throws(SQLiteFailure) in
        try connection.run("PRAGMA application_id=\(VaultFormat.applicationID)")
        try connection.run("PRAGMA user_version=\(VaultFormat.version)")
        for table in VaultFormat.tables { try connection.run(table.sql) }
        for (name, value) in [
          ("format", encodedFormat(VaultFormat.version)), ("vault_id", vaultID), ("catalogue", catalogue),
        ] {
          try connection.run("INSERT INTO meta (name, value) VALUES (?, ?)", [.text(name), .blob(value)])
        }
        for slot in slots { try insert(slot, into: connection) }
      }
      guard try connection.pragmaText("journal_mode=WAL") == "wal" else {
        throw SQLiteFailure(SQLITE_MISUSE, nil, during: "PRAGMA journal_mode=WAL did not take")
      }
    }
    guard let file = try PrivateFile.open(in: directory, draft, path + ".new", flags: O_RDWR) else {
      throw .system("open", path + ".new")
    }
    guard fsync(file.number) == 0 else { throw .system("fsync", path + ".new") }
    try PrivateFile.publish(in: directory, draft, as: name, path)
  }
}
