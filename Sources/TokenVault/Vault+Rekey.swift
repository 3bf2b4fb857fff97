package import Sealing

/// A new data key: what one does after a leak. Nothing that opened the vault before opens it after.
extension Vault {
  /// Seals every record anew under a new data key, in a new file that takes the place of the old one when it has been
  /// opened and compared. Key file and recovery code are new, too; a passphrase, which must be given where there is one,
  /// stays. Killed anywhere, it leaves the old vault or the new one. Where the key file cannot be replaced in the end
  /// (``VaultStatus/isKeyFileWaiting``), its successor opens the vault all the same. Returns the recovery code, where the vault has one.
  ///
  /// Throws `rolledBack`, `passphraseNeeded`, `wrongPassphrase`, `slotDamaged`, and as `unlock`.
  package func rekey(
    passphrase: Secret? = nil, confirmsCode: Bool = false
  ) async throws(VaultError) -> RecoveryCode? {
    try stretcher.enter()
    defer { stretcher.leave() }
    let slots = try await provePassphrase(passphrase)
    if let slot = slots.slot(.passphrase), let session, let keys, !session.isIntact(slot, keys: keys) {
      throw .slotDamaged(.passphrase)
    }
    if slots.slot(.keyFile) != nil {
      // One that waits is needed, and makes room for the next.
      if isKeyFileWaiting { try KeyFile.promoteNext(location.keyFile) }
      try KeyFile.checkReplaceable(location.keyFile)
    }
    let newData: SealingKey
    var wraps: [StretchedWrap] = []
    var code: RecoveryCode?
    do throws(SealingError) {
      newData = try SealingKey(random: random)
      if let slot = slots.slot(.passphrase), let passphrase {
        wraps.append(try await stretched(.passphrase, passphrase, cost: slot.cost()))
      }
      if slots.slot(.recoveryCode) != nil {
        let fresh = RecoveryCode(random: random)
        wraps.append(try await stretched(.recoveryCode, fresh.canonical, cost: recoveryCost))
        code = fresh
      }
    } catch { throw error.vaultError }
    try requireUnchanged(slots)
    try replaceDatabase(newData, wraps)
    if let code { handOn(code, confirms: confirmsCode) }
    return code
  }

  /// Argon2id's answer, ready to wrap a data key.
  private struct StretchedWrap {
    let kind: SlotKind
    let key: SealingKey
    let salt: [UInt8]
    let cost: PasswordHash.Cost
  }

  private func stretched(
    _ kind: SlotKind, _ secret: Secret, cost: PasswordHash.Cost
  ) async throws(SealingError) -> StretchedWrap {
    let salt = random.bytes(PasswordHash.saltCount)
    return StretchedWrap(
      kind: kind, key: try await stretcher.key(for: secret, salt: salt, cost: cost), salt: salt, cost: cost)
  }

  /// The steps that a kill may fall between. Up to the rename everything is the old vault's.
  private func replaceDatabase(_ newData: SealingKey, _ wraps: [StretchedWrap]) throws(VaultError) {
    guard let directory = try vaultDirectory() else { throw .locked }
    if let rollback { throw .rolledBack(rollback) }
    try removeStrays(in: directory)
    try takeInSpilled()
    try judgeFiles()
    try checkNotReplaced()
    guard let commit = session?.catalogue.commit else { throw .locked }
    let newKeys = try sealing { () throws(SealingError) in try VaultKeys(data: newData) }
    let hasKeyFile = session?.slot(.keyFile) != nil
    let wasUntold = isCodeUntold
    var lateAnswers = ResealedLateAnswers()
    let nextFileKey = hasKeyFile ? try KeyFile.createNext(location.keyFile, random: random) : nil
    do throws(VaultError) {
      try writeDraft(in: directory, newKeys, nextFileKey, wraps, commit: commit + 1)
      lateAnswers = try resealLateAnswers(under: newKeys)
      try session?.database.checkStillThere()
      try session?.database.foldLog()
      // Its place is the one that the old vault's last commit does not stand in: both know theirs.
      try session?.counter.under(newKeys.counter).write(commit + 1)
      // The last reference: closing removes the log.
      forget()
      if wraps.contains(where: { $0.kind == .recoveryCode }) { try FlagFile.untoldCode.set(in: directory, location) }
      try VaultDatabase.replace(in: directory, by: VaultLocation.draftName, path: location.databaseFile)
    } catch {
      forget()
      try? VaultDatabase.remove(in: directory, VaultLocation.draftName, path: location.databaseFile + ".new")
      if hasKeyFile { try? KeyFile.removeNext(location.keyFile) }
      removeLateAnswers(lateAnswers, failed: true)
      if !wasUntold { codeIsTold() }
      throw error
    }
    keys = newKeys
    last = nil
    // The new vault is there, and its code must reach who asked: what fails from here on, status tells. After a power cut
    // either vault may be there, and each of the two key files opens one.
    guard directory.flush() else {
      lastFailure = .system("fsync the folder of", location.databaseFile)
      return
    }
    if hasKeyFile { try? KeyFile.promoteNext(location.keyFile) }
    removeLateAnswers(lateAnswers, failed: false)
    _ = try? openedSession()
  }

  /// Writes the new database under another name, then opens it and compares every record with the old one's.
  private func writeDraft(
    in directory: borrowing FileDescriptor, _ newKeys: VaultKeys, _ fileKey: SealingKey?, _ wraps: [StretchedWrap],
    commit: UInt64
  ) throws(VaultError) {
    guard let session, let keys else { throw .locked }
    let vaultID = session.database.vaultID
    let path = location.databaseFile + ".new"
    let ids = session.catalogue.sortedIDs
    let (slots, catalogue) = try sealing { () throws(SealingError) in
      var slots: [Slot] = []
      if let fileKey {
        slots.append(try Slot.keyFile(wrapping: newKeys.data, under: fileKey, vaultID: vaultID, random: random))
      }
      for wrap in wraps {
        slots.append(
          try Slot.stretched(
            wrap.kind, wrapping: newKeys.data, under: wrap.key, salt: wrap.salt, cost: wrap.cost, vaultID: vaultID,
            random: random))
      }
      var catalogue = Catalogue(commit: commit, slots: try fingerprints(of: slots, newKeys))
      for id in ids {
        catalogue.entries[id] = Catalogue.Entry(version: session.catalogue.entries[id]?.version ?? 0, commit: commit)
      }
      return (slots, catalogue)
    }
    let sealedCatalogue = try sealing { () throws(SealingError) in
      try catalogue.sealed(vaultID: vaultID, keys: newKeys, random: random)
    }
    var remaining = ids[...]
    try VaultDatabase.write(
      in: directory, VaultLocation.draftName, path: path,
      DatabaseContents(vaultID: vaultID, slots: slots, catalogue: sealedCatalogue) {
        () throws(VaultError) -> (name: [UInt8], sealed: [UInt8])? in
        guard let id = remaining.popFirst() else { return nil }
        let record = try Vault.record(id, in: session, keys)
        return try sealing { () throws(SealingError) in
          (
            try newKeys.rowName(of: id),
            try RecordSeal.seal(record, commit: commit, vaultID: vaultID, keys: newKeys, random: self.random)
          )
        }
      })
    let draft = try CheckedDatabase(in: directory, VaultLocation.draftName, path: path, keys: newKeys)
    for id in ids {
      guard try draft.record(id).payload == Vault.record(id, in: session, keys).payload else {
        throw .storageFailed("record \(id) reads differently in the new vault")
      }
    }
    try draft.close()
  }
}
