/// Another state of the vault lies in the place of the one that was read: an older copy for instance, which somebody has put
/// back.
package struct VaultReplacement: Sendable {
  /// All of its records, and the last commit.
  package let records: [VaultRecord]
  package let commit: UInt64
  /// See ``RecordStore/rolledBackFrom``.
  package let rolledBackFrom: UInt64?

  package init(records: [VaultRecord], commit: UInt64, rolledBackFrom: UInt64?) {
    self.records = records
    self.commit = commit
    self.rolledBackFrom = rolledBackFrom
  }
}

extension Vault {
  /// Looks at the files, and opens what has taken their place.
  package func replacement() async throws(VaultError) -> VaultReplacement? {
    lookAgain()
    // What was wrong with the file may be put right by now.
    if session == nil, keys != nil, !isHeld { _ = try openedSession() }
    guard replaced != nil, let session, let keys else { return nil }
    var records: [VaultRecord] = []
    try Vault.eachRecord(of: session, keys) { records.append($0) }
    taken = VaultContents(session, rollback)
    return VaultReplacement(
      records: records, commit: session.catalogue.commit, rolledBackFrom: rollback?.expected)
  }

  package func replacementIsTaken(_ count: UInt64) async {
    replacements = count
    guard let taken else { return }
    // Yet another one may have come meanwhile.
    replaced = session.map { taken.isSame($0.catalogue.entries, rollback?.expected) } == false ? taken : nil
    self.taken = nil
  }

  /// Throws while whoever has read the vault does not know that another one lies in its place.
  func checkNotReplaced() throws(VaultError) {
    if replaced != nil { throw .replaced(path: location.databaseFile) }
  }

  /// Compares the vault that was just opened with what it was when its files were closed.
  func judgeReplacement(_ session: Session) {
    let entries = session.catalogue.entries
    if replaced?.isSame(entries, rollback?.expected) == true {
      replaced = nil
    } else if replaced == nil, let last, !last.isSame(entries, rollback?.expected) {
      replaced = last
    }
    last = nil
  }
}
