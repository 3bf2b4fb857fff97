package import Sealing

/// Whether the vault and copies of it are good.
extension Vault {
  /// What a check found.
  package struct Report: Equatable, Sendable {
    package let recordCount: Int
    package let commit: UInt64
    /// The kind of slot that opened it; nil: the key of the open vault fits.
    package let openedBy: SlotKind?
    package let slots: [VaultStatus.Slot]
    /// What the open vault has, where this is a copy of it and one of the two was changed since.
    package var vault: Extent?
    /// Whether a copy has a slot for a key file, and no key file here opens it.
    package var lacksKeyFile = false
  }

  /// How far a vault has come.
  package struct Extent: Equatable, Sendable {
    package let recordCount: Int
    package let commit: UInt64
  }

  /// Reads every page, seal and slot of the vault. Throws what is wrong with it.
  package func check() async throws(VaultError) -> Report {
    _ = try openedSession()
    try judgeFiles()
    guard let session, let keys else { throw .absent }
    try session.database.checkStructure()
    try Vault.checkRows(of: session.database, against: session.catalogue, keys)
    try Vault.eachRecord(of: session, keys)
    return Report(
      recordCount: session.catalogue.entries.count, commit: session.catalogue.commit, openedBy: nil,
      slots: session.slotStatus(keys: keys))
  }

  /// Checks a backup at `path` (absolute). It is opened by `passphrase` or `recoveryCode` where one is given, else by the key of the
  /// open vault, else by the key file. Throws `noSuchSlot` where the copy has none for what is given. The file itself is read, never opened by SQLite. The vault is of use meanwhile.
  package func check(
    file path: String, passphrase: Secret? = nil, recoveryCode typed: Secret? = nil
  ) async throws(VaultError) -> Report {
    try stretcher.enter()
    defer { stretcher.leave() }
    guard let directory = try vaultDirectory() else {
      try checkNeverMade()
      throw .absent
    }
    try takeLock(in: directory)
    guard !isChecking else { throw .tooManyUnlocks }
    isChecking = true
    defer {
      isChecking = false
      removeGiven()
    }
    let copy = CopyChecker(folder: location.directory, executor: checkExecutor)
    let report: Report
    do throws(VaultError) {
      report = try await check(copy, of: path, passphrase: passphrase, recoveryCode: typed)
    } catch {
      await copy.remove()
      throw error
    }
    await copy.remove()
    return report
  }

  private func check(
    _ copy: CopyChecker, of path: String, passphrase: Secret?, recoveryCode typed: Secret?
  ) async throws(VaultError) -> Report {
    let (slots, vaultID) = try await copy.take(path)
    var openedBy: SlotKind?
    let data: SealingKey
    if let passphrase {
      guard let slot = slots.slot(.passphrase) else { throw .noSuchSlot(.passphrase) }
      try CopyChecker.refuseExcess(slot)
      data = try await prove(passphrase, slot, vaultID: vaultID, isCopy: true)
      openedBy = .passphrase
    } else if let typed {
      guard let code = RecoveryCode(typed: typed) else { throw .invalidRecoveryCode }
      guard let slot = slots.slot(.recoveryCode) else {
        throw .noSuchSlot(.recoveryCode)
      }
      try CopyChecker.refuseExcess(slot)
      data = try await prove(code.canonical, slot, vaultID: vaultID, isCopy: true)
      openedBy = .recoveryCode
    } else if let keys, session?.database.vaultID == vaultID {
      data = keys.data
    } else {
      guard let slot = slots.slot(.keyFile) else { throw .passphraseNeeded }
      guard let fileKey = try KeyFile.read(location.keyFile) else { throw location.keyMissing }
      do throws(SealingError) { data = try slot.open(keyFile: fileKey, vaultID: vaultID) } catch {
        throw error == .notAuthentic ? .otherKey : error.vaultError
      }
      openedBy = .keyFile
    }
    let keys = try sealing { () throws(SealingError) in try VaultKeys(data: data) }
    judging = copy
    defer { judging = nil }
    if openedBy == nil { try await checkKey(of: slots, vaultID: vaultID, copy, keys) }
    let catalogue = try await copy.judge(keys)
    var report = Report(
      recordCount: catalogue.entries.count, commit: catalogue.commit, openedBy: openedBy,
      slots: catalogue.status(of: slots, keys: keys))
    report.lacksKeyFile = openedBy != .keyFile && keyFileOpens(slots, vaultID: vaultID) == false
    if let session, session.database.vaultID == vaultID, session.catalogue.commit != catalogue.commit {
      report.vault = Extent(recordCount: session.catalogue.entries.count, commit: session.catalogue.commit)
    }
    return report
  }

  /// Throws `otherKey` where the copy's catalogue does not open with the open vault's key: it may be sealed under the key
  /// of before a rekey. It is damaged where the key file, which a rekey replaces, opens its slot.
  private func checkKey(
    of slots: [Slot], vaultID: [UInt8], _ copy: CopyChecker, _ keys: VaultKeys
  ) async throws(VaultError) {
    do throws(VaultError) { _ = try await copy.catalogue(keys) } catch {
      guard case .damaged = error else { throw error }
      throw keyFileOpens(slots, vaultID: vaultID) == true ? error : .otherKey
    }
  }

  /// Whether the key file of this machine is one that opens `slots`; nil where they are for none.
  private func keyFileOpens(_ slots: [Slot], vaultID: [UInt8]) -> Bool? {
    slots.slot(.keyFile).map { slot in
      guard let key = try? KeyFile.read(location.keyFile) else { return false }
      return (try? slot.open(keyFile: key, vaultID: vaultID)) != nil
    }
  }
}
