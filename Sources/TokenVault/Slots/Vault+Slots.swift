import Sealing
import SystemFacts

/// Making a vault and finding its data key: what the slots are for.
extension Vault {
  /// Makes the vault, with a recovery code that is marked untold. Order matters: the key file is durable before the vault
  /// that needs it, and the vault appears under its name only when whole. `anew`: in place of one that is gone, of which
  /// nothing is forgotten before. Throws `alreadyExists`, `gone`.
  func makeVault(anew: Bool = false) async throws(VaultError) -> RecoveryCode {
    let code = RecoveryCode(random: random)
    let salt = random.bytes(PasswordHash.saltCount)
    // Others of this actor's calls may run meanwhile: the vault is looked for after it.
    let codeKey: SealingKey
    do throws(SealingError) {
      codeKey = try await stretcher.key(for: code.canonical, salt: salt, cost: recoveryCost)
    } catch { throw error.vaultError }
    let path = location.databaseFile
    do throws(VaultError) {
      guard try presentDirectory() == nil else { throw .alreadyExists(path: path) }
    } catch {
      guard anew, case .gone = error else { throw error }
    }
    let directory = try PrivateDirectory.make(location.directory, isSecret: true)
    if !location.allowsNetworkFileSystem { try NetworkFileSystem.refuse(location.directory) }
    try takeLock(in: directory)
    guard try !VaultDatabase.isPresent(in: directory, path: path) else { throw .alreadyExists(path: path) }
    // The lock file before the key file: see `VaultTraces`.
    guard directory.flush() else { throw .system("fsync", location.directory) }
    if anew { try KeyFile.putAsideIfDamaged(location.keyFile) }
    let fileKey = try KeyFile.readOrCreate(location.keyFile, random: random)
    let vaultID = random.bytes(VaultFormat.vaultIDCount)
    let (keys, slots, catalogue) = try sealing { () throws(SealingError) in
      let keys = try VaultKeys(data: SealingKey(random: random))
      let slots = [
        try Slot.keyFile(wrapping: keys.data, under: fileKey, vaultID: vaultID, random: random),
        try Slot.stretched(
          .recoveryCode, wrapping: keys.data, under: codeKey, salt: salt, cost: recoveryCost, vaultID: vaultID,
          random: random),
      ]
      let catalogue = try Catalogue(commit: 1, slots: fingerprints(of: slots, keys))
        .sealed(vaultID: vaultID, keys: keys, random: random)
      return (keys, slots, catalogue)
    }
    // The mark is about this code from here on.
    codeToJudge = nil
    try FlagFile.untoldCode.set(in: directory, location)
    try VaultDatabase.create(
      in: directory, path: path, DatabaseContents(vaultID: vaultID, slots: slots, catalogue: catalogue))
    if anew { forgetGone(for: directory) }
    self.keys = keys
    (last, replaced, taken) = (nil, nil, nil)
    do throws(VaultError) {
      guard try openSession(in: directory, keysFrom: keysFromKeyFile) != nil else {
        throw .storageFailed("\(path) vanished")
      }
    } catch {
      // It took the other's place: whoever asked lets go of that one, too. The next call opens it.
      guard anew else { throw error }
      lastFailure = error
    }
    session?.counterWritten()
    session?.counterProblem = nil
    return code
  }

  func fingerprints(of slots: [Slot], _ keys: VaultKeys) throws(SealingError) -> [UInt32: [UInt8]] {
    var fingerprints: [UInt32: [UInt8]] = [:]
    for slot in slots { fingerprints[slot.number] = try slot.fingerprint(keys: keys) }
    return fingerprints
  }

  func keysFromKeyFile(_ database: VaultDatabase, _ slots: [Slot]) throws(VaultError) -> VaultKeys {
    guard let slot = slots.slot(.keyFile) else { throw .locked }
    let fileKey = try KeyFile.read(location.keyFile)
    do throws(SealingError) {
      if let fileKey { return try VaultKeys(data: slot.open(keyFile: fileKey, vaultID: database.vaultID)) }
    } catch {
      // A rekey that was cut short between the database and its key file.
      guard error == .notAuthentic, let keys = try keysFromNextKeyFile(database, slot) else {
        throw error.opening(
          "slot \(slot.number): it does not open with \(location.keyFile); one of them is damaged or another vault's",
          part: .slot)
      }
      return keys
    }
    guard let keys = try keysFromNextKeyFile(database, slot) else { throw location.keyMissing }
    return keys
  }

  /// By the key file that a rekey had made, which then takes its place if it can; nil where there is no such file, or it
  /// opens nothing.
  private func keysFromNextKeyFile(_ database: VaultDatabase, _ slot: Slot) throws(VaultError) -> VaultKeys? {
    guard let next = try KeyFile.readNext(location.keyFile),
      let data = try? slot.open(keyFile: next, vaultID: database.vaultID)
    else { return nil }
    // Status tells that it waits.
    try? KeyFile.promoteNext(location.keyFile)
    return try sealing { () throws(SealingError) in try VaultKeys(data: data) }
  }

  /// Removes the key file that a rekey had made and did not come to need: the one that is there opens the vault, or none
  /// does any more.
  func removeNextKeyFile(vaultID: [UInt8], _ slots: [Slot]) {
    if let slot = slots.slot(.keyFile) {
      guard let fileKey = try? KeyFile.read(location.keyFile),
        (try? slot.open(keyFile: fileKey, vaultID: vaultID)) != nil
      else { return }
    }
    try? KeyFile.removeNext(location.keyFile)
  }

  /// Lets the key file open the vault again: the one that is there, or a new one, with one that opens nothing moved aside.
  /// Opening by code needs no other repair, and the user expects not to need the code every time. A vault whose key file was
  /// removed stays without.
  func restoreKeyFileSlot() throws(VaultError) {
    guard let session, session.catalogue.slots[SlotKind.keyFile.slotNumber] != nil else { return }
    let slot = session.slot(.keyFile)
    let vaultID = session.database.vaultID
    try KeyFile.putAsideIfDamaged(location.keyFile)
    if let slot, let fileKey = try KeyFile.read(location.keyFile),
      (try? slot.open(keyFile: fileKey, vaultID: vaultID)) != nil
    {
      return
    }
    if let slot, try keysFromNextKeyFile(session.database, slot) != nil { return }
    try addKeyFileSlot()
    try finishSlotChange()
  }

  /// Wraps the data key for the key file, which is made where it is missing. One that does not open this vault is moved
  /// aside: it may be the one that a rekey took away from whoever has a copy.
  func addKeyFileSlot() throws(VaultError) {
    guard let session = try openedSession(), let keys else { throw .absent }
    let (present, vaultID) = (session.slot(.keyFile), session.database.vaultID)
    try KeyFile.putAside(location.keyFile) { key in
      present.map { (try? $0.open(keyFile: key, vaultID: vaultID)) != nil } ?? false
    }
    let fileKey = try KeyFile.readOrCreate(location.keyFile, random: random)
    let slot = try sealing { () throws(SealingError) in
      try Slot.keyFile(wrapping: keys.data, under: fileKey, vaultID: session.database.vaultID, random: random)
    }
    try put(slot)
  }
}
