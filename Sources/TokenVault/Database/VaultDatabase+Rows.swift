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
    writtenLog = WrittenFile(path + "-wal")
    // Where that fails it is tried again with the next one.
    if let writtenLog, writtenLog.size > Self.longestLog, WrittenFile(path) == written { try? foldLog() }
  }

  static func insert(_ slot: Slot, into connection: SQLiteConnection) throws(SQLiteFailure) {
    try connection.run(
      "INSERT OR REPLACE INTO slot (number, kind, passes, memory_kib, salt, sealed) VALUES (?, ?, ?, ?, ?, ?)",
      [
        .integer(Int64(slot.number)), .integer(Int64(slot.kind)), .integer(Int64(slot.passes)),
        .integer(Int64(slot.memoryKiB)), .blob(slot.salt), .blob(slot.sealed),
      ])
  }
}
