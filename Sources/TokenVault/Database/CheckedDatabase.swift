import Sealing

/// A database beside the vault, opened and judged as the vault is.
struct CheckedDatabase {
  private let database: VaultDatabase
  private let keys: VaultKeys
  let catalogue: Catalogue

  init(in directory: borrowing FileDescriptor, _ name: String, path: String, keys: VaultKeys) throws(VaultError) {
    try self.init(try VaultDatabase.open(in: directory, name, path: path), keys: keys)
  }

  init(_ database: VaultDatabase, keys: VaultKeys) throws(VaultError) {
    self.database = database
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
