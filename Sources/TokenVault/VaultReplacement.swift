/// What was in the vault when this process last had its files open.
struct VaultContents {
  let vaultID: [UInt8]
  let commit: UInt64
  let entries: [RecordID: Catalogue.Entry]
  /// The entries after a commit that failed: it may be on disk all the same.
  var doubtful: [RecordID: Catalogue.Entry]?

  /// Whether a vault with `entries` is that one.
  func isSame(_ vaultID: [UInt8], _ entries: [RecordID: Catalogue.Entry]) -> Bool {
    vaultID == self.vaultID && (entries == self.entries || entries == doubtful)
  }
}

/// Another vault lies in the place of the one that was read: an older copy for instance, which somebody has put back.
package struct VaultReplacement: Sendable {
  /// All of its records.
  package let records: [VaultRecord]
  /// Those that are newer than what was read, or were not there then.
  package let newer: Set<RecordID>
  /// See ``RecordStore/rolledBackFrom``.
  package let rolledBackFrom: UInt64?

  package init(records: [VaultRecord], newer: Set<RecordID>, rolledBackFrom: UInt64?) {
    self.records = records
    self.newer = newer
    self.rolledBackFrom = rolledBackFrom
  }
}

extension Vault {
  /// Looks at the files, and opens what has taken their place. Commits of one vault are numbered over all its copies on a
  /// machine, so a greater one is newer.
  package func replacement() async throws(VaultError) -> VaultReplacement? {
    lookAgain()
    guard let replaced, let session, let keys else { return nil }
    var records: [VaultRecord] = []
    try Vault.eachRecord(of: session, keys) { records.append($0) }
    let isCopy = replaced.vaultID == session.database.vaultID
    let newer = session.catalogue.entries.filter { id, entry in
      replaced.entries[id].map { isCopy && $0.commit < entry.commit } ?? true
    }
    self.replaced = nil
    return VaultReplacement(records: records, newer: Set(newer.keys), rolledBackFrom: rollback?.expected)
  }

  /// Throws while whoever has read the vault does not know that another one lies in its place.
  func checkNotReplaced() throws(VaultError) {
    if replaced != nil { throw .replaced(path: location.databaseFile) }
  }

  /// Compares the vault that was just opened with what it was when its files were closed.
  func judgeReplacement(_ session: Session) {
    let (id, entries) = (session.database.vaultID, session.catalogue.entries)
    if replaced?.isSame(id, entries) == true {
      replaced = nil
    } else if replaced == nil, let last, !last.isSame(id, entries) {
      replaced = last
    }
    last = nil
  }
}
