import Glibc
package import Sealing

/// Copies of the vault, and whether they are good.
extension Vault {
  /// A copy of the vault as one file.
  package struct Backup: Equatable, Sendable {
    /// In the vault's folder; whoever asked takes it away from there, within ten minutes.
    package let path: String
    package let byteCount: Int
    package let recordCount: Int
    package let commit: UInt64
  }

  /// What a check found.
  package struct Report: Equatable, Sendable {
    package let recordCount: Int
    package let commit: UInt64
    /// The kind of slot that opened it; nil: the key of the open vault fits.
    package let openedBy: SlotKind?
    package let slots: [VaultStatus.Slot]
  }

  /// Writes the whole vault, sealed as it is, into one file of the vault's folder, opens it and compares it. It replaces
  /// the backup before, and does not outlive a change of the slots or a lock.
  package func backup() async throws(VaultError) -> Backup {
    guard let session = try openedSession(), let keys, let directory = try vaultDirectory() else { throw .absent }
    let path = location.directory + "/" + VaultLocation.backupName
    let ids = session.catalogue.sortedIDs
    var remaining = ids[...]
    do throws(VaultError) {
      try VaultDatabase.write(
        in: directory, VaultLocation.backupName, path: path,
        DatabaseContents(
          vaultID: session.database.vaultID, slots: session.slots, catalogue: session.database.sealedCatalogue()
        ) { () throws(VaultError) -> (name: [UInt8], sealed: [UInt8])? in
          guard let id = remaining.popFirst() else { return nil }
          let name = try sealing { () throws(SealingError) in try keys.rowName(of: id) }
          guard let sealed = try session.database.sealedRecord(name) else {
            throw .damaged(what: "record \(id): its row is missing")
          }
          return (name, sealed)
        })
      let copy = try CheckedDatabase(in: directory, VaultLocation.backupName, path: path, keys: keys)
      for id in ids { _ = try copy.record(id) }
      try copy.close()
      guard directory.flush() else { throw .system("fsync", location.directory) }
      let count = Int(try PrivateFile.status(in: directory, VaultLocation.backupName, path)?.st_size ?? 0)
      removeBackupInTime()
      return Backup(path: path, byteCount: count, recordCount: ids.count, commit: session.catalogue.commit)
    } catch {
      try? VaultDatabase.remove(in: directory, VaultLocation.backupName, path: path)
      throw error
    }
  }

  /// Who asked for it may have died.
  private func removeBackupInTime() {
    backupNumber += 1
    Task { [weak self, number = backupNumber, backupLife] in
      try? await Task.sleep(for: backupLife)
      await self?.removeBackup(number)
    }
  }

  /// Reads every page, seal and slot of the vault. Throws what is wrong with it.
  package func check() async throws(VaultError) -> Report {
    guard let session = try openedSession(), let keys else { throw .absent }
    try session.database.checkStillThere()
    try session.database.checkStructure()
    try Vault.checkRows(of: session.database, against: session.catalogue, keys)
    for id in session.catalogue.sortedIDs { _ = try Vault.record(id, in: session, keys) }
    return Report(
      recordCount: session.catalogue.entries.count, commit: session.catalogue.commit, openedBy: nil,
      slots: session.slotStatus(keys: keys))
  }

  /// Checks a backup at `path` (absolute). It is opened by the key of the open vault, else by the key file, else by
  /// `passphrase` or `recoveryCode`. The file itself is read, never opened by SQLite.
  package func check(
    file path: String, passphrase: Secret? = nil, recoveryCode typed: Secret? = nil
  ) async throws(VaultError) -> Report {
    try stretcher.enter()
    defer { stretcher.leave() }
    let copy = location.directory + "/" + VaultLocation.checkName
    guard let directory = try vaultDirectory() else {
      try checkNeverMade()
      throw .absent
    }
    try takeLock(in: directory)
    guard !isChecking else { throw .tooManyUnlocks }
    isChecking = true
    defer {
      try? VaultDatabase.remove(in: directory, VaultLocation.checkName, path: copy)
      isChecking = false
    }
    try VaultDatabase.remove(in: directory, VaultLocation.checkName, path: copy)
    try PrivateFile.copy(from: path, in: directory, VaultLocation.checkName, copy)
    try VaultDatabase.checkKind(in: directory, VaultLocation.checkName, path: copy)
    let (slots, vaultID) = try Vault.slots(in: directory, copy)
    var openedBy: SlotKind?
    let data: SealingKey
    if let slot = slots.slot(.passphrase), let passphrase {
      data = try await prove(passphrase, slot, vaultID: vaultID)
      openedBy = .passphrase
    } else if let typed {
      guard let code = RecoveryCode(typed: typed) else { throw .invalidRecoveryCode }
      guard let slot = slots.slot(.recoveryCode) else {
        throw .noSuchSlot(.recoveryCode)
      }
      data = try await prove(code.canonical, slot, vaultID: vaultID)
      openedBy = .recoveryCode
    } else if let keys, session?.database.vaultID == vaultID {
      data = keys.data
    } else {
      guard let slot = slots.slot(.keyFile) else { throw .passphraseNeeded }
      guard let fileKey = try KeyFile.read(location.keyFile) else { throw .keyMissing(path: location.keyFile) }
      do throws(SealingError) { data = try slot.open(keyFile: fileKey, vaultID: vaultID) } catch {
        throw error == .notAuthentic ? .otherKey : error.vaultError
      }
      openedBy = .keyFile
    }
    let keys = try sealing { () throws(SealingError) in try VaultKeys(data: data) }
    if openedBy == nil { try checkKey(of: slots, in: directory, copy, keys) }
    let checked = try CheckedDatabase(in: directory, VaultLocation.checkName, path: copy, keys: keys)
    for id in checked.catalogue.sortedIDs { _ = try checked.record(id) }
    return Report(
      recordCount: checked.catalogue.entries.count, commit: checked.catalogue.commit, openedBy: openedBy,
      slots: checked.catalogue.status(of: slots, keys: keys))
  }

  /// Throws `otherKey` where the copy's catalogue does not open with the open vault's key: it may be sealed under the key
  /// of before a rekey. It is damaged where the key file, which a rekey replaces, opens its slot.
  private func checkKey(
    of slots: [Slot], in directory: borrowing FileDescriptor, _ copy: String, _ keys: VaultKeys
  ) throws(VaultError) {
    let database = try VaultDatabase.open(in: directory, VaultLocation.checkName, path: copy)
    do throws(VaultError) {
      _ = try Catalogue(opening: database.sealedCatalogue(), vaultID: database.vaultID, keys: keys)
    } catch {
      guard case .damaged = error else { throw error }
      if let slot = slots.slot(.keyFile), let fileKey = try KeyFile.read(location.keyFile),
        (try? slot.open(keyFile: fileKey, vaultID: database.vaultID)) != nil
      {
        throw error
      }
      throw .otherKey
    }
  }

  private static func slots(
    in directory: borrowing FileDescriptor, _ copy: String
  ) throws(VaultError) -> ([Slot], vaultID: [UInt8]) {
    let database = try VaultDatabase.open(in: directory, VaultLocation.checkName, path: copy)
    return (try database.slots(), database.vaultID)
  }
}

/// A database beside the vault, opened and judged as the vault is.
struct CheckedDatabase {
  private let database: VaultDatabase
  private let keys: VaultKeys
  let catalogue: Catalogue

  init(in directory: borrowing FileDescriptor, _ name: String, path: String, keys: VaultKeys) throws(VaultError) {
    database = try VaultDatabase.open(in: directory, name, path: path)
    catalogue = try Catalogue(opening: database.sealedCatalogue(), vaultID: database.vaultID, keys: keys)
    try Vault.checkRows(of: database, against: catalogue, keys)
    self.keys = keys
  }

  func record(_ id: RecordID) throws(VaultError) -> VaultRecord {
    let name = try sealing { () throws(SealingError) in try keys.rowName(of: id) }
    guard let entry = catalogue.entries[id], let sealed = try database.sealedRecord(name) else {
      throw .damaged(what: "record \(id): its row is missing")
    }
    return try RecordSeal.open(sealed, id: id, entry: entry, vaultID: database.vaultID, keys: keys)
  }

  /// Lets the end of this value remove the empty log that opening has made.
  consuming func close() throws(VaultError) { try database.allowCheckpoints(true) }
}
