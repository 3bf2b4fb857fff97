import Sealing

/// A record's sealed form: format ‖ payload length ‖ payload ‖ zeros to a multiple of 256 bytes.
enum RecordSeal {
  static func seal(
    _ record: VaultRecord, commit: UInt64, vaultID: [UInt8], keys: VaultKeys, random: any RandomSource
  ) throws(SealingError) -> [UInt8] {
    let payload = record.payload
    var header = ByteWriter()
    header.integer(VaultFormat.version)
    header.integer(UInt32(payload.count))
    let used = header.bytes.count + payload.count
    let step = VaultFormat.paddingStep
    let plain = Secret(count: (used + step - 1) / step * step) { target in
      target.copyBytes(from: header.bytes)
      payload.withBytes { UnsafeMutableRawBufferPointer(rebasing: target[header.bytes.count...]).copyMemory(from: $0) }
    }
    let associatedData = VaultFormat.recordAssociatedData(
      vaultID: vaultID, id: record.id, version: record.version, commit: commit)
    return try plain.withBytes { (bytes: UnsafeRawBufferPointer) throws(SealingError) in
      try AEAD.seal(bytes, associatedData: associatedData, key: keys.records, random: random)
    }
  }

  /// Throws `damaged` naming the record, `wrongFormat`.
  static func open(
    _ sealed: [UInt8], id: RecordID, entry: Catalogue.Entry, vaultID: [UInt8], keys: VaultKeys
  ) throws(VaultError) -> VaultRecord {
    let associatedData = VaultFormat.recordAssociatedData(
      vaultID: vaultID, id: id, version: entry.version, commit: entry.commit)
    let plain: Secret
    do throws(SealingError) {
      plain = try AEAD.open(sealed, associatedData: associatedData, key: keys.records)
    } catch { throw error.opening("record \(id): changed, or replaced by another or an older one") }
    let payload = try plain.withBytes { (bytes: UnsafeRawBufferPointer) throws(VaultError) in
      var reader = ByteReader(bytes)
      guard let format = reader.integer(UInt32.self) else { throw .damaged(what: "record \(id): empty") }
      guard format == VaultFormat.version else {
        throw .wrongFormat(found: format, supported: VaultFormat.version)
      }
      guard
        let count = reader.integer(UInt32.self), let payload = reader.raw(Int(count)),
        reader.restIsPadding(to: VaultFormat.paddingStep)
      else { throw .damaged(what: "record \(id): its contents") }
      return Secret(payload)
    }
    var record = VaultRecord(id: id, version: entry.version, payload: payload)
    record.commit = entry.commit
    return record
  }
}
