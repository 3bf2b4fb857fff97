import CSQLite

extension VaultDatabase {
  func slots() throws(VaultError) -> [Slot] {
    try judged { () throws(SQLiteFailure) in
      var slots: [Slot] = []
      try connection.rows("SELECT number, kind, passes, memory_kib, salt, sealed FROM slot ORDER BY number") {
        (row) throws(SQLiteFailure) in
        guard slots.count < VaultDatabase.maximumSlotCount else { throw SQLiteFailure(unexpected: "so many slots") }
        slots.append(
          Slot(
            number: try VaultDatabase.unsigned(row.integer(0)), kind: try VaultDatabase.unsigned(row.integer(1)),
            passes: try VaultDatabase.unsigned(row.integer(2)), memoryKiB: try VaultDatabase.unsigned(row.integer(3)),
            salt: try row.blob(4), sealed: try row.blob(5)))
      }
      return slots
    }
  }

  /// Far more than any version would have.
  private static let maximumSlotCount = 64

  private static func unsigned(_ value: Int64) throws(SQLiteFailure) -> UInt32 {
    guard let value = UInt32(exactly: value) else { throw SQLiteFailure(unexpected: "a slot's number out of range") }
    return value
  }

  func sealedCatalogue() throws(VaultError) -> [UInt8] {
    try judged { () throws(SQLiteFailure) in try VaultDatabase.meta("catalogue", in: connection) }
  }

  func eachRowName(_ body: ([UInt8]) -> Void) throws(VaultError) {
    try judged { () throws(SQLiteFailure) in
      try connection.rows("SELECT row_key FROM record") { (row) throws(SQLiteFailure) in body(try row.blob(0)) }
    }
  }

  func sealedRecord(_ rowName: [UInt8]) throws(VaultError) -> [UInt8]? {
    try judged { () throws(SQLiteFailure) in
      var sealed: [UInt8]?
      try connection.rows("SELECT sealed FROM record WHERE row_key = ?", [.blob(rowName)]) {
        (row) throws(SQLiteFailure) in sealed = try row.blob(0)
      }
      return sealed
    }
  }

  /// What one transaction changes beside the catalogue.
  enum Change {
    case put(rowName: [UInt8], sealed: [UInt8])
    case delete(rowName: [UInt8])
    case slot(Slot)
    case removeSlot(UInt32)
    case none
  }

  /// Throws when the file was removed or replaced since it was opened, or its log was changed by somebody else: what SQLite
  /// writes now would be lost.
  func checkStillThere() throws(VaultError) {
    guard let found = FileIdentity(path) else { throw .unseen(path) }
    guard found == identity else {
      throw .storageFailed("\(path) was replaced while it was open")
    }
    guard let writtenLog, !hasLostLog else { return }
    guard WrittenLog(path + "-wal")?.isStill(writtenLog) == true else {
      throw .storageFailed("another program changed \(path)-wal while it was open")
    }
  }

  /// Whether its log was removed or replaced since it was opened: what SQLite writes now is gone with the process.
  var hasLostLog: Bool { logIdentity != nil && FileIdentity(path + "-wal") != logIdentity }

  /// Makes `change` and the new catalogue durable together.
  func commit(_ change: Change, catalogue: [UInt8]) throws(VaultError) {
    try judged { () throws(SQLiteFailure) in
      try connection.transaction { () throws(SQLiteFailure) in
        switch change {
        case .put(let name, let sealed):
          try connection.run(
            "INSERT INTO record (row_key, sealed) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET sealed = ?2",
            [.blob(name), .blob(sealed)])
        case .delete(let name): try connection.run("DELETE FROM record WHERE row_key = ?", [.blob(name)])
        case .slot(let slot): try VaultDatabase.insert(slot, into: connection)
        case .removeSlot(let number): try connection.run("DELETE FROM slot WHERE number = ?", [.integer(Int64(number))])
        case .none: break
        }
        try connection.run("UPDATE meta SET value = ? WHERE name = 'catalogue'", [.blob(catalogue)])
        guard connection.changedRowCount == 1 else { throw SQLiteFailure(unexpected: "no catalogue row to update") }
      }
    }
    writtenLog = WrittenLog(path + "-wal")
  }

  static func insert(_ slot: Slot, into connection: SQLiteConnection) throws(SQLiteFailure) {
    try connection.run(
      "INSERT OR REPLACE INTO slot (number, kind, passes, memory_kib, salt, sealed) VALUES (?, ?, ?, ?, ?, ?)",
      [
        .integer(Int64(slot.number)), .integer(Int64(slot.kind)), .integer(Int64(slot.passes)),
        .integer(Int64(slot.memoryKiB)), .blob(slot.salt), .blob(slot.sealed),
      ])
  }

  /// Called once everything has been judged: from now on closing folds the log into the database.
  func allowCheckpoints(_ isAllowed: Bool) throws(VaultError) {
    try judged { () throws(SQLiteFailure) in
      try connection.configure(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !isAllowed)
    }
  }

  /// Writes every page of the log into the database and empties the log, durably. After a failed fsync the log's pages
  /// may be clean in memory and absent on disk: no commit may follow them before this has worked.
  func foldLog() throws(VaultError) {
    try judged { () throws(SQLiteFailure) in
      var isBusy: Int64 = 1
      try connection.rows("PRAGMA wal_checkpoint(TRUNCATE)") { (row) throws(SQLiteFailure) in
        isBusy = try row.integer(0)
      }
      guard isBusy == 0 else { throw SQLiteFailure(SQLITE_BUSY, nil, during: "checkpoint") }
    }
    writtenLog = nil
  }

  /// Leaves nothing of what was deleted or replaced in the log and in the database's free pages. Durable when it returns.
  func purge() throws(VaultError) {
    try foldLog()
    try judged { () throws(SQLiteFailure) in
      // VACUUM attaches the database that it writes to.
      connection.limit(SQLITE_LIMIT_ATTACHED, to: 1)
      defer { connection.limit(SQLITE_LIMIT_ATTACHED, to: 0) }
      try connection.run("VACUUM")
    }
    try foldLog()
  }
}
