import Glibc
import Sealing
import SystemFacts

/// Records that the vault could not write, kept sealed in other folders until it can: a file each, named by the record's row
/// name, in every folder that takes one, since another agent may look in fewer of them.
///
/// version (8) ‖ record, sealed as in the vault with a commit number that no commit has: it is made of the commit of the row
/// that the record follows. Of another row, as of one that was written since, it does not open.
struct Spill {
  let directories: [String]
  let vaultID: [UInt8]
  let keys: VaultKeys

  private static let limit = VaultRecord.maximumPayloadCount + 4_096

  private func name(of id: RecordID) throws(VaultError) -> String {
    Hex.encode(try sealing { () throws(SealingError) in try keys.rowName(of: id) })
  }

  /// `row` is the commit of the row that `record` is written over; nil: there is none.
  private static func commit(following row: UInt64?) -> UInt64 { ~(row ?? 0) }

  /// What lies there already goes when the new one is whole. Throws why the first folder did not take it, where none did.
  func write(_ record: VaultRecord, following row: UInt64?, random: any RandomSource) throws(VaultError) {
    var bytes = ByteWriter()
    bytes.integer(record.version)
    bytes.raw(
      try sealing { () throws(SealingError) in
        try RecordSeal.seal(record, commit: Spill.commit(following: row), vaultID: vaultID, keys: keys, random: random)
      })
    let name = try name(of: record.id)
    var failure = VaultError.storageFailed("there is no other place to keep it")
    var isKept = false
    for (index, directory) in directories.enumerated() {
      do throws(VaultError) {
        let last = try? read(record.id, following: row ?? 0, in: directory)
        if last?.version == record.version, last?.payload == record.payload {
          // It may be there since a try that failed at this.
          try flush(directory)
        } else {
          try write(bytes.bytes, name, in: directory)
        }
        isKept = true
      } catch { if index == 0 { failure = error } }
    }
    if !isKept { throw failure }
  }

  private func flush(_ directory: String) throws(VaultError) {
    let number = Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard number >= 0 else { throw .system("open", directory) }
    let folder = FileDescriptor(number)
    guard folder.flush() else { throw .system("fsync", directory) }
  }

  private func write(_ bytes: [UInt8], _ name: String, in directory: String) throws(VaultError) {
    // One that somebody else could rename is none.
    _ = try PrivateDirectory.make(PrivateDirectory.parent(of: directory), isSecret: false)
    let folder = try PrivateDirectory.make(directory, isSecret: true)
    try PrivateFile.create(in: folder, name, directory + "/" + name, bytes, replaces: true)
  }

  /// The newest that is kept of `id` for the row that was written by the commit `row`; nil when nothing is. Throws where one
  /// may be there that cannot be read: it may be the newest.
  func read(_ id: RecordID, following row: UInt64) throws(VaultError) -> VaultRecord? {
    var found: VaultRecord?
    for directory in directories {
      guard let kept = try read(id, following: row, in: directory) else { continue }
      if kept.version > found?.version ?? 0 { found = kept }
    }
    return found
  }

  private func read(
    _ id: RecordID, following row: UInt64, in directory: String
  ) throws(VaultError) -> VaultRecord? {
    guard let bytes = try SealedFile.read(directory + "/" + name(of: id), limit: Spill.limit) else { return nil }
    let version = bytes.withUnsafeBytes { all in
      var reader = ByteReader(all)
      return reader.integer(UInt64.self)
    }
    guard let version else { return nil }
    return try? RecordSeal.open(
      Array(bytes.dropFirst(8)), id: id, entry: Catalogue.Entry(version: version, commit: Spill.commit(following: row)),
      vaultID: vaultID, keys: keys)
  }

  /// Whether `record` is kept where a restart of the machine leaves it.
  func isLasting(_ record: VaultRecord, following row: UInt64) -> Bool {
    directories.contains { directory in
      !MemoryFileSystem.holds(directory)
        && (try? read(record.id, following: row, in: directory))?.version == record.version
    }
  }

  /// Throws what kept one from being removed, after the others.
  func remove(_ id: RecordID) throws(VaultError) {
    var failure: VaultError?
    let name = try name(of: id)
    for directory in directories {
      do throws(VaultError) {
        guard let folder = try PrivateDirectory.open(directory, isSecret: true) else { continue }
        for name in [name, name + ".new"] { _ = unlinkat(folder.number, name, 0) }
      } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
  }

  /// Whether anything was ever kept: the folders are made by the first write.
  var isThere: Bool { directories.contains(where: SealedFile.mayBe) }

  /// Whether something is kept by the name of `id`, which need not be of this vault.
  func holds(_ id: RecordID) -> Bool {
    guard let name = try? name(of: id) else { return false }
    return directories.contains { SealedFile.mayBe($0 + "/" + name) }
  }
}
