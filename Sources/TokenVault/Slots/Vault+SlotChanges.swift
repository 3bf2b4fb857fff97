package import Sealing

/// Adding, changing and removing ways to open the vault. Each ends with nothing of the old slot left in the vault's files.
extension Vault {
  /// Bytes of a passphrase.
  package static let passphraseRange = 8...1_024

  /// Sets the passphrase. A vault that has one already wants it, or the recovery code, as `current`; so whoever finds the
  /// terminal open does not lock its owner out. Throws `unusablePassphrase`, `passphraseNeeded`, `wrongPassphrase`, and as `unlock`.
  package func setPassphrase(
    _ passphrase: Secret, current: Secret? = nil, cost: PasswordHash.Cost = .moderate
  ) async throws(VaultError) {
    guard Vault.passphraseRange.contains(passphrase.count) else { throw .unusablePassphrase }
    try stretcher.enter()
    defer { stretcher.leave() }
    try await proveCurrent(current)
    try await setSlot(.passphrase, to: passphrase, cost: cost)
  }

  /// A new recovery code; the old one opens nothing but backups made before. With a passphrase, that or the old code is needed.
  package func renewRecoveryCode(current: Secret? = nil) async throws(VaultError) -> RecoveryCode {
    try stretcher.enter()
    defer { stretcher.leave() }
    try await proveCurrent(current)
    let code = RecoveryCode(random: random)
    try await setSlot(.recoveryCode, to: code.canonical, cost: recoveryCost)
    codeIsTold()
    return code
  }

  /// Lets the key file, made where it is missing, open the vault without a person. With a passphrase, that or the
  /// recovery code is needed.
  package func addKeyFile(current: Secret? = nil) async throws(VaultError) {
    try stretcher.enter()
    defer { stretcher.leave() }
    try await proveCurrent(current)
    try addKeyFileSlot()
    try purge()
  }

  /// Removes a slot. What is left must open the vault in daily life: a key file or a passphrase. The key file itself goes
  /// with its slot. A slot that is gone is no error; its traces are removed once more. Throws `slotNeeded`,
  /// `passphraseNeeded`, `wrongPassphrase`.
  package func removeSlot(_ kind: SlotKind, current: Secret? = nil) async throws(VaultError) {
    try stretcher.enter()
    defer { stretcher.leave() }
    try await proveCurrent(current)
    guard let session = try openedSession(), let keys else { throw .absent }
    let others = session.slots.filter { $0.kind != kind.rawValue && session.isIntact($0, keys: keys) }.map(\.kind)
    guard others.contains(SlotKind.keyFile.rawValue) || others.contains(SlotKind.passphrase.rawValue) else {
      throw .slotNeeded(kind)
    }
    if session.slot(kind) != nil || session.catalogue.slots[kind.slotNumber] != nil {
      var catalogue = session.catalogue
      catalogue.commit = nextCommit(after: catalogue)
      catalogue.slots[kind.slotNumber] = nil
      try commit(.removeSlot(kind.slotNumber), catalogue)
      self.session?.slots.removeAll { $0.number == kind.slotNumber }
    }
    try purge()
    if kind == .keyFile {
      try KeyFile.remove(location.keyFile)
      try KeyFile.removeNext(location.keyFile)
    }
  }

  // MARK: Steps

  /// Throws unless `current` is the passphrase of a vault that has one, or the recovery code: whoever has that reads
  /// everything anyway, and replaces a passphrase that is forgotten.
  private func proveCurrent(_ current: Secret?) async throws(VaultError) {
    if let current, try await isRecoveryCode(current) { return }
    try await provePassphrase(current)
  }

  private func isRecoveryCode(_ typed: Secret) async throws(VaultError) -> Bool {
    guard let code = RecoveryCode(typed: typed), let session = try openedSession(), let keys,
      let slot = session.slot(.recoveryCode), session.isIntact(slot, keys: keys)
    else { return false }
    do throws(VaultError) { _ = try await prove(code.canonical, slot, vaultID: session.database.vaultID) } catch {
      // A passphrase may look like one.
      if case .invalidRecoveryCode = error { return false }
      throw error
    }
    return true
  }

  /// Throws unless `current` is the passphrase of a vault that has one. A damaged slot takes no passphrase, and nobody
  /// could mend it if it were asked for.
  func provePassphrase(_ current: Secret?) async throws(VaultError) {
    guard let session = try openedSession(), let keys else { throw .absent }
    guard let slot = session.slot(.passphrase), session.isIntact(slot, keys: keys) else { return }
    guard let current else { throw .passphraseNeeded }
    _ = try await prove(current, slot, vaultID: session.database.vaultID)
  }

  private func setSlot(_ kind: SlotKind, to secret: Secret, cost: PasswordHash.Cost) async throws(VaultError) {
    let salt = random.bytes(PasswordHash.saltCount)
    let key: SealingKey
    do throws(SealingError) { key = try await stretcher.key(for: secret, salt: salt, cost: cost) } catch {
      throw error.vaultError
    }
    // Locked, or given another key, meanwhile: what is open now counts.
    guard let session = try openedSession(), let keys else { throw .locked }
    let slot = try sealing { () throws(SealingError) in
      try Slot.stretched(
        kind, wrapping: keys.data, under: key, salt: salt, cost: cost, vaultID: session.database.vaultID,
        random: random)
    }
    if kind == .recoveryCode, let directory = try vaultDirectory() {
      try Mark.untoldCode.set(in: directory, location)
    }
    try put(slot)
    try purge()
  }

  /// Whoever asked for the recovery code has it, or has shown to know it.
  func codeIsTold() {
    // No sync, in which a kill would be one that nobody is warned of: what comes back is a warning too many.
    do throws(VaultError) {
      guard let directory = try vaultDirectory() else { return }
      try Mark.untoldCode.clear(in: directory, location, isHint: true)
    } catch {}  // A warning too many, too.
  }

  var isCodeUntold: Bool {
    do throws(VaultError) {
      guard let directory = try vaultDirectory() else { return false }
      return try Mark.untoldCode.isSet(in: directory, location)
    } catch { return false }
  }

  /// Removes what a changed slot left in free pages, in the log and in copies. The change is durable already.
  func purge() throws(VaultError) {
    guard let database = session?.database, let directory = try vaultDirectory() else { throw .locked }
    do throws(VaultError) { try database.purge() } catch {
      throw forget(
        after: .storageFailed("the change is made, but the old key may still be in the file; do it again (\(error))"))
    }
    do throws(VaultError) { try removeStrays(in: directory) } catch {
      let why = error.reason(location.directory)
      throw .storageFailed("the change is made, but a copy that the old key opens is still there; do it again (\(why))")
    }
  }
}
