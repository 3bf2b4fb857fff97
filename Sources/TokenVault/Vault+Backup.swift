import Glibc
import Sealing

/// Copies of the vault.
extension Vault {
  /// A copy of the vault as one file.
  package struct Backup: Equatable, Sendable {
    /// In the vault's folder, a name of its own; whoever asked takes it away from there, within ten minutes.
    package let path: String
    package let byteCount: Int
    package let recordCount: Int
    package let commit: UInt64
  }

  /// Backups that wait to be taken away, for minutes each. Of more, the oldest is removed: they must not fill the disk.
  private static let maximumBackupCount = 16

  /// Writes the whole vault, sealed as it is, into one file of the vault's folder, opens it and compares it. It gets its
  /// name when it is whole, and no other backup gets that name: whoever asked opens it later, when the next one may be
  /// under way. It does not outlive a change of the slots or a lock.
  package func backup() async throws(VaultError) -> Backup {
    guard let session = try openedSession(), let keys, let directory = try vaultDirectory() else { throw .absent }
    let draft = location.directory + "/" + VaultLocation.backupName
    let name = VaultLocation.backupName + "." + Hex.encode(random.bytes(8))
    let path = location.directory + "/" + name
    let ids = session.catalogue.sortedIDs
    var remaining = ids[...]
    do throws(VaultError) {
      try VaultDatabase.write(
        in: directory, VaultLocation.backupName, path: draft,
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
      try checkDraft(in: directory, draft, ids, keys)
      try PrivateFile.publish(in: directory, VaultLocation.backupName, as: name, path)
      let count = Int(try PrivateFile.status(in: directory, name, path)?.st_size ?? 0)
      removeInTime(name)
      return Backup(path: path, byteCount: count, recordCount: ids.count, commit: session.catalogue.commit)
    } catch {
      try? VaultDatabase.remove(in: directory, VaultLocation.backupName, path: draft)
      throw error
    }
  }

  /// In a function of its own, at whose end SQLite has closed it: under another name it would leave its log behind.
  private func checkDraft(
    in directory: borrowing FileDescriptor, _ path: String, _ ids: [RecordID], _ keys: VaultKeys
  ) throws(VaultError) {
    let copy = try CheckedDatabase(in: directory, VaultLocation.backupName, path: path, keys: keys)
    for id in ids { _ = try copy.record(id) }
    try copy.close()
  }

  /// Who asked for it may have died.
  private func removeInTime(_ name: String) {
    backups.append(name)
    if backups.count > Vault.maximumBackupCount { removeBackup(backups.removeFirst()) }
    Task { [weak self, backupLife] in
      try? await Task.sleep(for: backupLife)
      await self?.removeBackup(name)
    }
  }

  private func removeBackup(_ name: String) {
    backups.removeAll { $0 == name }
    do throws(VaultError) {
      guard let directory = try vaultDirectory() else { return }
      try VaultDatabase.remove(in: directory, name, path: location.directory + "/" + name)
    } catch {}  // The next step that removes strays says why it cannot.
  }
}
