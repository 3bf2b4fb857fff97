import Sealing

/// A sealed payload that waits for the vault to be opened. docs/vault-format.md has its bytes.
enum LateAnswer {
  /// Payloads are 512 KiB at most: a refresh token of 32 KiB, each byte of it escaped for JSON, and what its login is bound to.
  static let maximumPayloadCount = 524_288

  private static let headCount = 4 + VaultFormat.vaultIDCount
  /// format ‖ vault id ‖ record id ‖ number ‖ length of payload
  private static let innerHeadCount = 4 + VaultFormat.vaultIDCount + RecordID.byteCount + 8 + 4
  /// Longest file, bytes.
  static let maximumCount =
    headCount + SealedBox.overhead + padded(innerHeadCount + maximumPayloadCount)

  private static func padded(_ count: Int) -> Int {
    let step = VaultFormat.paddingStep
    return (count + step - 1) / step * step
  }

  static func seal(
    _ payload: Secret, for record: RecordID, number: UInt64, vaultID: [UInt8], to publicKey: SealedBox.PublicKey
  ) throws(VaultError) -> [UInt8] {
    guard payload.count <= maximumPayloadCount else {
      throw .storageFailed("\(payload.count) bytes to keep until the vault is open; \(maximumPayloadCount) is the most")
    }
    var inner = ByteWriter()
    inner.integer(VaultFormat.version)
    inner.raw(vaultID)
    inner.raw(record.bytes)
    inner.integer(number)
    inner.integer(UInt32(payload.count))
    let head = inner.bytes
    let plain = Secret(count: padded(head.count + payload.count)) { target in
      target.copyBytes(from: head)
      payload.withBytes { UnsafeMutableRawBufferPointer(rebasing: target[head.count...]).copyMemory(from: $0) }
    }
    var outer = ByteWriter()
    outer.integer(VaultFormat.version)
    outer.raw(vaultID)
    outer.raw(
      try sealing { () throws(SealingError) in
        try plain.withBytes { (bytes: UnsafeRawBufferPointer) throws(SealingError) in try publicKey.seal(bytes) }
      })
    return outer.bytes
  }

  /// Whether the bytes say that they are one for the vault.
  static func isFor(_ vaultID: [UInt8], _ bytes: [UInt8]) -> Bool {
    var head = ByteWriter()
    head.integer(VaultFormat.version)
    head.raw(vaultID)
    return bytes.starts(with: head.bytes)
  }

  /// Nil when it was not sealed to this key for this vault under this number.
  static func open(
    _ bytes: [UInt8], number: UInt64, vaultID: [UInt8], by keyPair: borrowing SealedBox.KeyPair
  ) -> (record: RecordID, payload: Secret)? {
    guard isFor(vaultID, bytes), let plain = try? keyPair.open(Array(bytes.dropFirst(headCount))) else { return nil }
    return plain.withBytes { bytes in
      var reader = ByteReader(bytes)
      guard
        reader.integer(UInt32.self) == VaultFormat.version,
        let vault = reader.raw(VaultFormat.vaultIDCount), vault.elementsEqual(vaultID),
        let record = reader.raw(RecordID.byteCount).flatMap({ RecordID($0) }),
        reader.integer(UInt64.self) == number,
        let count = reader.integer(UInt32.self), let payload = reader.raw(Int(count)),
        reader.restIsPadding(to: VaultFormat.paddingStep)
      else { return nil }
      return (record, Secret(payload))
    }
  }
}
