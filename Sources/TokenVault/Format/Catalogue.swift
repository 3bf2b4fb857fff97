import Sealing

/// What must be in the vault: every record with its version, every slot, the number of the last commit. Sealed and
/// rewritten in every transaction, it finds rows that are missing, extra or older than they should be.
struct Catalogue: Equatable {
  struct Entry: Equatable {
    var version: UInt64
    /// The commit that wrote the row; part of its associated data, so no two states of a row ever open alike.
    var commit: UInt64
  }

  /// Number of the last commit. Grows by 1 with each; never repeats on one machine.
  var commit: UInt64
  /// The commit that was expected when a rollback was found, until it is accepted; else 0.
  var rollbackExpected: UInt64 = 0
  /// Fingerprint (16 bytes) of each slot row by its number.
  var slots: [UInt32: [UInt8]]
  var entries: [RecordID: Entry] = [:]

  /// Of commits and versions. No vault comes near it; whoever knows the key can seal any number, and the next one has to be greater.
  static let greatestNumber: UInt64 = 1 << 62

  /// Bytes of a slot's fingerprint: as hard to forge as the vault id is to guess.
  static let slotFingerprintCount = 16

  func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.integer(VaultFormat.version)
    writer.integer(commit)
    writer.integer(rollbackExpected)
    writer.integer(UInt32(slots.count))
    for (number, fingerprint) in slots.sorted(by: { $0.key < $1.key }) {
      writer.integer(number)
      writer.raw(fingerprint)
    }
    writer.integer(UInt32(entries.count))
    for id in sortedIDs {
      guard let entry = entries[id] else { continue }
      writer.raw(id.bytes)
      writer.integer(entry.version)
      writer.integer(entry.commit)
    }
    writer.pad(to: VaultFormat.paddingStep)
    return writer.bytes
  }

  /// Every id, in the order of its bytes.
  var sortedIDs: [RecordID] { entries.keys.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) } }

  func sealed(vaultID: [UInt8], keys: VaultKeys, random: any RandomSource) throws(SealingError) -> [UInt8] {
    let plain = Secret(encoded())
    return try plain.withBytes { (bytes: UnsafeRawBufferPointer) throws(SealingError) in
      try AEAD.seal(
        bytes, associatedData: VaultFormat.catalogueAssociatedData(vaultID: vaultID), key: keys.catalogue,
        random: random)
    }
  }

  /// Opens and reads one. Throws `damaged`, `wrongFormat`.
  init(opening sealed: [UInt8], vaultID: [UInt8], keys: VaultKeys) throws(VaultError) {
    let plain: Secret
    do throws(SealingError) {
      plain = try AEAD.open(
        sealed, associatedData: VaultFormat.catalogueAssociatedData(vaultID: vaultID), key: keys.catalogue)
    } catch { throw error.opening("catalogue: it does not open with the vault's key") }
    self = try plain.withBytes { (bytes: UnsafeRawBufferPointer) throws(VaultError) in
      var reader = ByteReader(bytes)
      guard let format = reader.integer(UInt32.self) else { throw .damaged(what: "catalogue: empty") }
      guard format == VaultFormat.version else {
        throw .wrongFormat(found: format, supported: VaultFormat.version)
      }
      guard let catalogue = Catalogue(reading: &reader) else { throw .damaged(what: "catalogue: its contents") }
      return catalogue
    }
  }

  private init?(reading reader: inout ByteReader) {
    guard
      let commit = reader.integer(UInt64.self), commit <= Self.greatestNumber,
      let rollbackExpected = reader.integer(UInt64.self), rollbackExpected <= Self.greatestNumber,
      let slotCount = reader.integer(UInt32.self)
    else { return nil }
    self.init(commit: commit, rollbackExpected: rollbackExpected, slots: [:])
    for _ in 0..<slotCount {
      guard
        let number = reader.integer(UInt32.self), let fingerprint = reader.raw(Catalogue.slotFingerprintCount),
        slots.updateValue(Array(fingerprint), forKey: number) == nil
      else { return nil }
    }
    guard let recordCount = reader.integer(UInt32.self) else { return nil }
    for _ in 0..<recordCount {
      guard
        let idBytes = reader.raw(RecordID.byteCount), let id = RecordID(idBytes),
        let version = reader.integer(UInt64.self), version <= Self.greatestNumber,
        let written = reader.integer(UInt64.self), written <= Self.greatestNumber,
        entries.updateValue(Entry(version: version, commit: written), forKey: id) == nil
      else { return nil }
    }
    guard reader.restIsPadding(to: VaultFormat.paddingStep) else { return nil }
  }

  init(commit: UInt64, rollbackExpected: UInt64 = 0, slots: [UInt32: [UInt8]]) {
    self.commit = commit
    self.rollbackExpected = rollbackExpected
    self.slots = slots
  }
}
