/// What was in the vault when this process last had its files open.
struct VaultContents {
  let commit: UInt64
  let entries: [RecordID: Catalogue.Entry]
  /// See ``RecordStore/rolledBackFrom``.
  let rolledBackFrom: UInt64?
  /// The entries after a commit that failed: it may be on disk all the same.
  var doubtful: [RecordID: Catalogue.Entry]?

  init(_ session: Vault.Session, _ rollback: Rollback?) {
    commit = session.catalogue.commit
    entries = session.catalogue.entries
    rolledBackFrom = rollback?.expected
  }

  /// Whether a vault with `entries` is that one.
  func isSame(_ entries: [RecordID: Catalogue.Entry], _ rolledBackFrom: UInt64?) -> Bool {
    rolledBackFrom == self.rolledBackFrom && (entries == self.entries || entries == doubtful)
  }
}
