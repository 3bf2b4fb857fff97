import Sealing

/// How the vault is opened and judged.
extension Vault {
  func openSession(_ read: (VaultRecord) -> Void) throws(VaultError) -> Session? {
    guard let directory = try presentDirectory() else { return nil }
    try takeLock(in: directory)
    if isHeld { throw .locked }
    // Keys that are still there belong to a vault that is being locked: what is under way is still to be written.
    if keys == nil, try FlagFile.hold.isSet(in: directory, location) { throw .locked }
    return try openSession(in: directory, keysFrom: keysFromKeyFile, read)
  }

  /// Opens and judges everything. Until that is done the files stay as they are. The caller holds the lock. `read` gets every
  /// record.
  func openSession(
    in directory: borrowing FileDescriptor, keysFrom: (VaultDatabase, [Slot]) throws(VaultError) -> VaultKeys,
    _ read: (VaultRecord) -> Void = { _ in }
  ) throws(VaultError) -> Session? {
    guard let database = try VaultDatabase.open(in: directory, path: location.databaseFile) else { return nil }
    let slots = try database.slots()
    let (keys, catalogue) = try openCatalogue(of: database, slots, keysFrom: keysFrom)
    try Vault.checkRows(of: database, against: catalogue, keys)
    let counter = CommitCounter(path: location.counterFile, vaultID: database.vaultID, key: keys.counter)
    var session = Session(database: database, counter: counter, catalogue: catalogue, slots: slots)
    // A log that lies over the database of another time has rows of both.
    try Vault.eachRecord(of: session, keys, read)
    if logIsSuspect { try database.foldLog() }
    logIsSuspect = false
    try database.allowCheckpoints(true)
    removeNextKeyFile(vaultID: database.vaultID, slots)
    rollback = judgeCounter(&session)
    // The counter of that time may have been put back with it.
    if let last, last.commit > catalogue.commit, last.commit > rollback?.expected ?? 0 {
      rollback = Rollback(found: catalogue.commit, expected: last.commit)
    }
    if purgeProblem == nil, try FlagFile.purgeDue.isSet(in: directory, location) {
      purgeProblem = "what opened it before may still be there: the agent ended before that was removed"
    }
    self.keys = keys
    vaultID = database.vaultID
    self.session = session
    judgeReplacement(session)
    do throws(VaultError) { try putSlotsBack() } catch { throw forget(after: error) }
    judgeNewCode()
    return self.session
  }

  /// By the keys in memory, where there are any. Nothing of an open vault goes into one that they do not open: it is another one,
  /// or from before a rekey, and may open in other ways.
  private func openCatalogue(
    of database: VaultDatabase, _ slots: [Slot],
    keysFrom: (VaultDatabase, [Slot]) throws(VaultError) -> VaultKeys
  ) throws(VaultError) -> (VaultKeys, Catalogue) {
    let sealed = try database.sealedCatalogue()
    guard let keys else {
      let keys = try keysFrom(database, slots)
      return (keys, try Catalogue(opening: sealed, vaultID: database.vaultID, keys: keys))
    }
    do throws(VaultError) {
      return (keys, try Catalogue(opening: sealed, vaultID: database.vaultID, keys: keys))
    } catch {
      guard case .damaged = error else { throw error }
      throw .damaged(what: "its key is not the open vault's; or it is another vault, or from before a rekey")
    }
  }

  static func checkRows(
    of database: VaultDatabase, against catalogue: Catalogue, _ keys: VaultKeys
  ) throws(VaultError) {
    var missing: [[UInt8]: RecordID] = [:]
    for id in catalogue.sortedIDs {
      missing[try sealing { () throws(SealingError) in try keys.rowName(of: id) }] = id
    }
    // One by one: there may be millions that the catalogue does not know.
    var surplus = 0
    try database.eachRowName { if missing.removeValue(forKey: $0) == nil { surplus += 1 } }
    if let id = missing.values.first { throw .damaged(what: "record \(id): its row is missing") }
    guard surplus == 0 else { throw .damaged(what: "\(surplus) rows that the catalogue does not know") }
  }
}
