import Sealing

extension Array where Element == Slot {
  /// The slot of this kind; there is one at most.
  func slot(_ kind: SlotKind) -> Slot? { first { $0.kind == kind.rawValue } }
}

/// One way to the data key: the key, wrapped under a key from a file, a code or a passphrase.
struct Slot: Equatable {
  var number: UInt32
  /// A `SlotKind`, or one of a later version.
  var kind: UInt32
  /// Argon2id's cost and salt; zeros and empty where the wrapping key is random by itself.
  var passes: UInt32
  var memoryKiB: UInt32
  var salt: [UInt8]
  /// The sealed data key.
  var sealed: [UInt8]

  /// Names a vault by its place, by its `condition` and by its slots, in hex: another one after each change of them.
  static func digest(of slots: [Slot], in path: String, condition: [UInt8]) -> String {
    let parts = slots.sorted { $0.number < $1.number }.map { $0.parameters + $0.sealed }
    let digests = [Array(path.utf8), condition] + parts
    return Hex.encode(Digest.sha256(digests.flatMap { Digest.sha256($0) }).prefix(16))
  }

  /// Everything but the sealed key. Bound to its seal: a slot's cost cannot be changed without its secret.
  private var parameters: [UInt8] {
    var writer = ByteWriter()
    writer.integer(number)
    writer.integer(kind)
    writer.integer(passes)
    writer.integer(memoryKiB)
    writer.integer(UInt32(salt.count))
    writer.raw(salt)
    return writer.bytes
  }

  private func associatedData(vaultID: [UInt8]) -> [UInt8] {
    var writer = ByteWriter()
    writer.raw("oauthctl.slot.1".utf8)
    writer.raw(vaultID)
    writer.raw(parameters)
    return writer.bytes
  }

  /// What the catalogue keeps of this slot.
  func fingerprint(keys: VaultKeys) throws(SealingError) -> [UInt8] {
    try KeyedHash.blake2b(parameters + sealed, key: keys.slots, count: Catalogue.slotFingerprintCount)
  }

  /// Slot 1: the data key under a key file's.
  static func keyFile(
    wrapping data: SealingKey, under key: SealingKey, vaultID: [UInt8], random: any RandomSource
  ) throws(SealingError) -> Slot {
    var slot = Slot(number: 1, kind: SlotKind.keyFile.rawValue, passes: 0, memoryKiB: 0, salt: [], sealed: [])
    slot.sealed = try slot.wrap(data, under: key.derived(1, for: "oavkeyfl"), vaultID: vaultID, random: random)
    return slot
  }

  /// The slot of `kind`: the data key under `key`, which Argon2id made of a secret with this salt at this cost.
  static func stretched(
    _ kind: SlotKind, wrapping data: SealingKey, under key: SealingKey, salt: [UInt8], cost: PasswordHash.Cost,
    vaultID: [UInt8], random: any RandomSource
  ) throws(SealingError) -> Slot {
    var slot = Slot(
      number: kind.slotNumber, kind: kind.rawValue, passes: cost.passes, memoryKiB: cost.memoryKiB, salt: salt,
      sealed: [])
    slot.sealed = try slot.wrap(data, under: key, vaultID: vaultID, random: random)
    return slot
  }

  /// The data key, by a key file's key. Throws `notAuthentic`.
  func open(keyFile key: SealingKey, vaultID: [UInt8]) throws(SealingError) -> SealingKey {
    try unwrap(under: key.derived(1, for: "oavkeyfl"), vaultID: vaultID)
  }

  /// What a secret costs here. Throws `outOfRange` before anything is hashed.
  func cost() throws(SealingError) -> PasswordHash.Cost {
    guard salt.count == PasswordHash.saltCount else { throw .outOfRange("Argon2id salt") }
    return try PasswordHash.Cost(passes: passes, memoryKiB: memoryKiB)
  }

  /// The data key, by the key that Argon2id made of a secret. Throws `notAuthentic`.
  func open(stretched key: SealingKey, vaultID: [UInt8]) throws(SealingError) -> SealingKey {
    try unwrap(under: key, vaultID: vaultID)
  }

  private func wrap(
    _ data: SealingKey, under key: SealingKey, vaultID: [UInt8], random: any RandomSource
  ) throws(SealingError) -> [UInt8] {
    try data.withBytes { (bytes: UnsafeRawBufferPointer) throws(SealingError) in
      try AEAD.seal(bytes, associatedData: associatedData(vaultID: vaultID), key: key, random: random)
    }
  }

  private func unwrap(under key: SealingKey, vaultID: [UInt8]) throws(SealingError) -> SealingKey {
    guard sealed.count == SealingKey.byteCount + AEAD.overhead else { throw .notAuthentic }
    return try SealingKey(AEAD.openGuarded(sealed, associatedData: associatedData(vaultID: vaultID), key: key))
  }
}
