import Sealing

/// Making a vault and finding its data key: what the slots are for.
extension Vault {
  /// Makes the vault. Order matters: the key file is durable before the vault that needs it, and the vault appears
  /// under its name only when whole.
  func makeVault() throws(VaultError) -> RecoveryCode {
    let directory = try PrivateDirectory.make(location.directory, isSecret: true)
    if !location.allowsNetworkFileSystem { try NetworkFileSystem.refuse(location.directory) }
    try takeLock(in: directory)
    let path = location.databaseFile
    guard try !VaultDatabase.isPresent(in: directory, path: path) else { throw .alreadyExists(path: path) }
    let fileKey = try KeyFile.readOrCreate(location.keyFile, random: random)
    let code = RecoveryCode(random: random)
    let vaultID = random.bytes(VaultFormat.vaultIDCount)
    let (keys, slots, catalogue) = try sealing { () throws(SealingError) in
      let keys = try VaultKeys(data: SealingKey(random: random))
      let slots = [
        try Slot.keyFile(wrapping: keys.data, under: fileKey, vaultID: vaultID, random: random),
        try Slot.recoveryCode(
          wrapping: keys.data, under: code, cost: recoveryCost, vaultID: vaultID, random: random),
      ]
      var fingerprints: [UInt32: [UInt8]] = [:]
      for slot in slots { fingerprints[slot.number] = try slot.fingerprint(keys: keys) }
      let catalogue = try Catalogue(commit: 1, slots: fingerprints).sealed(vaultID: vaultID, keys: keys, random: random)
      return (keys, slots, catalogue)
    }
    try VaultDatabase.create(in: directory, path: path, vaultID: vaultID, slots: slots, catalogue: catalogue)
    self.keys = keys
    guard try openSession(in: directory, keysFrom: keysFromKeyFile) != nil else {
      throw .storageFailed("\(path) vanished")
    }
    session?.counterProblem = nil
    return code
  }

  func keysFromKeyFile(_ database: VaultDatabase, _ slots: [Slot]) throws(VaultError) -> VaultKeys {
    guard let fileKey = try KeyFile.read(location.keyFile) else { throw .keyMissing(path: location.keyFile) }
    guard let slot = slots.first(where: { $0.kind == SlotKind.keyFile.rawValue }) else {
      throw .damaged(what: "slots: none for a key file")
    }
    do throws(SealingError) {
      return try VaultKeys(data: slot.open(keyFile: fileKey, vaultID: database.vaultID))
    } catch {
      throw error.opening(
        "slot \(slot.number): it does not open with \(location.keyFile); one of them is damaged or another vault's")
    }
  }

  func unlock(by code: RecoveryCode) throws(VaultError) {
    guard let directory = try vaultDirectory() else { return }
    try takeLock(in: directory)
    session = nil
    keys = nil
    let opened = try openSession(in: directory) { (database, slots) throws(VaultError) in
      try Vault.keys(from: code, database, slots)
    }
    guard opened != nil else { return }
    try restoreKeyFileSlot()
    try Hold.clear(in: directory, location)
  }

  private static func keys(
    from code: RecoveryCode, _ database: VaultDatabase, _ slots: [Slot]
  ) throws(VaultError) -> VaultKeys {
    guard let slot = slots.first(where: { $0.kind == SlotKind.recoveryCode.rawValue }) else {
      throw .damaged(what: "slots: none for a recovery code")
    }
    do throws(SealingError) {
      return try VaultKeys(data: slot.open(recoveryCode: code, vaultID: database.vaultID))
    } catch {
      switch error {
      case .notAuthentic: throw .invalidRecoveryCode
      case .outOfRange(let what): throw .damaged(what: "slot \(slot.number): \(what)")
      default: throw error.vaultError
      }
    }
  }

  /// Lets the key file open the vault again: the one that is there, or a new one. Opening by code needs no other
  /// repair, and the user expects not to need the code every time.
  private func restoreKeyFileSlot() throws(VaultError) {
    guard let session, let keys else { return }
    if let fileKey = try KeyFile.read(location.keyFile),
      let slot = session.slots.first(where: { $0.kind == SlotKind.keyFile.rawValue }),
      (try? slot.open(keyFile: fileKey, vaultID: session.database.vaultID)) != nil
    {
      return
    }
    let fileKey = try KeyFile.readOrCreate(location.keyFile, random: random)
    var catalogue = session.catalogue
    catalogue.commit += 1
    let slot = try sealing { () throws(SealingError) in
      let slot = try Slot.keyFile(
        wrapping: keys.data, under: fileKey, vaultID: session.database.vaultID, random: random)
      catalogue.slots[slot.number] = try slot.fingerprint(keys: keys)
      return slot
    }
    try commit(.slot(slot), catalogue)
    self.session?.slots.removeAll { $0.number == slot.number }
    self.session?.slots.append(slot)
    self.session?.slots.sort { $0.number < $1.number }
  }
}
