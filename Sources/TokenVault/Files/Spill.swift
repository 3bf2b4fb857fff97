import Glibc
import Sealing

/// Records that the vault could not write, kept sealed in another folder until it can: a file each, named by the
/// record's row name.
///
/// version (8) ‖ record, sealed as in the vault with a commit number that no commit has.
struct Spill {
  let directory: String
  let vaultID: [UInt8]
  let keys: VaultKeys

  private static let noCommit = UInt64.max
  private static let limit = VaultRecord.maximumPayloadCount + 4_096

  private func name(of id: RecordID) throws(VaultError) -> String {
    Hex.encode(try sealing { () throws(SealingError) in try keys.rowName(of: id) })
  }

  func write(_ record: VaultRecord, random: any RandomSource) throws(VaultError) {
    var bytes = ByteWriter()
    bytes.integer(record.version)
    bytes.raw(
      try sealing { () throws(SealingError) in
        try RecordSeal.seal(record, commit: Spill.noCommit, vaultID: vaultID, keys: keys, random: random)
      })
    let folder = try PrivateDirectory.make(directory, isSecret: true)
    let name = try name(of: record.id)
    guard unlinkat(folder.number, name, 0) == 0 || errno == ENOENT else {
      throw .system("unlink", directory + "/" + name)
    }
    try PrivateFile.create(in: folder, name, directory + "/" + name, bytes.bytes)
  }

  /// What is kept of `id`; nil when nothing is, or nothing of this vault.
  func read(_ id: RecordID) throws(VaultError) -> VaultRecord? {
    let name = try name(of: id)
    guard let folder = try PrivateDirectory.open(directory, isSecret: true),
      let bytes = try PrivateFile.read(in: folder, name, directory + "/" + name, limit: Spill.limit)
    else { return nil }
    let version = bytes.withUnsafeBytes { all in
      var reader = ByteReader(all)
      return reader.integer(UInt64.self)
    }
    guard let version else { return nil }
    return try? RecordSeal.open(
      Array(bytes.dropFirst(8)), id: id, entry: Catalogue.Entry(version: version, commit: Spill.noCommit),
      vaultID: vaultID, keys: keys)
  }

  func remove(_ id: RecordID) throws(VaultError) {
    guard let folder = try PrivateDirectory.open(directory, isSecret: true) else { return }
    let name = try name(of: id)
    for name in [name, name + ".new"] { _ = unlinkat(folder.number, name, 0) }
  }

  /// Whether anything was ever kept here: the folder is made by the first write.
  var isThere: Bool {
    var status = stat()
    return lstat(directory, &status) == 0
  }
}
