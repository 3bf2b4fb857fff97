/// The constants of format 1 (docs/vault-format.md).
enum VaultFormat {
  /// In the database's `user_version`, in `meta.format` and in every sealed plaintext.
  static let version: UInt32 = 1
  /// "OAuV" in the database's `application_id`.
  static let applicationID: Int64 = 0x4F41_7556
  /// Bytes of the vault's id: random, so two vaults never share one.
  static let vaultIDCount = 16
  /// Sealed plaintexts are as long as the next multiple of this, so that their length tells little.
  static let paddingStep = 256

  /// The tables, exactly as `sqlite_schema` must hold them.
  static let tables: [(name: String, sql: String)] = [
    ("meta", "CREATE TABLE meta (name TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL) STRICT, WITHOUT ROWID"),
    ("record", "CREATE TABLE record (row_key BLOB PRIMARY KEY NOT NULL, sealed BLOB NOT NULL) STRICT, WITHOUT ROWID"),
    (
      "slot",
      "CREATE TABLE slot (number INTEGER PRIMARY KEY NOT NULL, kind INTEGER NOT NULL, passes INTEGER NOT NULL, "
        + "memory_kib INTEGER NOT NULL, salt BLOB NOT NULL, sealed BLOB NOT NULL) STRICT"
    ),
  ]

  /// What a record's seal is bound to.
  static func recordAssociatedData(vaultID: [UInt8], id: RecordID, version: UInt64, commit: UInt64) -> [UInt8] {
    var writer = ByteWriter()
    writer.raw("oauthctl.record.1".utf8)
    writer.raw(vaultID)
    writer.raw(id.bytes)
    writer.integer(version)
    writer.integer(commit)
    return writer.bytes
  }

  /// What the catalogue's seal is bound to.
  static func catalogueAssociatedData(vaultID: [UInt8]) -> [UInt8] {
    var writer = ByteWriter()
    writer.raw("oauthctl.catalogue.1".utf8)
    writer.raw(vaultID)
    return writer.bytes
  }
}
