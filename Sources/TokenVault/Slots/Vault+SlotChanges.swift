package import Sealing

/// Adding, changing and removing ways to open the vault. Each ends with nothing of the old slot left in the vault's files.
extension Vault {
  /// Bytes of a passphrase: below eight a guess is too cheap whatever a hash costs, and nobody types a thousand.
  package static let passphraseRange = 8...1_024

  /// Sets the passphrase. A vault that has one already wants it, or the recovery code, as `current`; so whoever finds the
  /// terminal open does not lock its owner out. Throws `unusablePassphrase`, `passphraseNeeded`, `wrongPassphrase`, and
  /// as `unlock`.
  package func setPassphrase(
    _ passphrase: Secret, current: Secret? = nil, cost: PasswordHash.Cost = .moderate
  ) async throws(VaultError) {
    guard Vault.passphraseRange.contains(passphrase.count) else { throw .unusablePassphrase }
    try stretcher.enter()
    defer { stretcher.leave() }
    let proved = try await proveCurrent(current)
    try await setSlot(.passphrase, to: passphrase, cost: cost, proved)
    try finishSlotChange()
  }

  /// A new recovery code; the old one opens nothing but backups made before. With a passphrase, that or the old code is
  /// needed.
  package func renewRecoveryCode(
    current: Secret? = nil, confirmsCode: Bool = false
  ) async throws(VaultError) -> RecoveryCode {
    try stretcher.enter()
    defer { stretcher.leave() }
    let proved = try await proveCurrent(current)
    let code = RecoveryCode(random: random)
    try await setSlot(.recoveryCode, to: code.canonical, cost: recoveryCost, proved)
    handOn(code, confirms: confirmsCode)
    // The new code counts, and must reach who asked: what is left of the old one, status tells.
    try? finishSlotChange()
    return code
  }

  /// Lets the key file, made where it is missing, open the vault without a person. With a passphrase, that or the
  /// recovery code is needed.
  package func addKeyFile(current: Secret? = nil) async throws(VaultError) {
    try stretcher.enter()
    defer { stretcher.leave() }
    try requireUnchanged(try await proveCurrent(current))
    try addKeyFileSlot()
    try finishSlotChange()
  }

  /// Removes a slot. What is left must open the vault in daily life: a key file or a passphrase. The key file itself goes
  /// with its slot. A slot that is gone is no error; its traces are removed once more. Throws `slotNeeded`,
  /// `passphraseNeeded`, `wrongPassphrase`.
  package func removeSlot(_ kind: SlotKind, current: Secret? = nil) async throws(VaultError) {
    try stretcher.enter()
    defer { stretcher.leave() }
    try requireUnchanged(try await proveCurrent(current))
    guard let session = try openedSession(), let keys else { throw .absent }
    let others = session.slots.filter { $0.kind != kind.rawValue && session.isIntact($0, keys: keys) }.map(\.kind)
    let opensByFile = others.contains(SlotKind.keyFile.rawValue) && keyFileFault == nil
    guard opensByFile || others.contains(SlotKind.passphrase.rawValue) else { throw .slotNeeded(kind) }
    if session.slot(kind) != nil || session.catalogue.slots[kind.slotNumber] != nil {
      var catalogue = session.catalogue
      catalogue.slots[kind.slotNumber] = nil
      let slots = session.slots.filter { $0.number != kind.slotNumber }
      try changeSlots(.removeSlot(kind.slotNumber), to: slots, catalogue)
    } else {
      try noteSlotChange()
    }
    try finishSlotChange(removesKeyFile: kind == .keyFile)
  }

  // MARK: Steps

  /// Throws unless `current` is the passphrase of a vault that has one, or the recovery code: whoever has that reads
  /// everything anyway, and replaces a passphrase that is forgotten. Returns the slots that this was proved of.
  private func proveCurrent(_ current: Secret?) async throws(VaultError) -> [Slot] {
    if let current, let slots = try await slotsProved(byRecoveryCode: current) { return slots }
    return try await provePassphrase(current)
  }

  private func slotsProved(byRecoveryCode typed: Secret) async throws(VaultError) -> [Slot]? {
    guard let code = RecoveryCode(typed: typed) else { return nil }
    let (slots, slot, vaultID) = try provable(.recoveryCode)
    guard let slot else { return nil }
    do throws(VaultError) { _ = try await prove(code.canonical, slot, vaultID: vaultID) } catch {
      // A passphrase may look like one.
      if case .invalidRecoveryCode = error { return nil }
      throw error
    }
    return slots
  }

  /// Throws unless `current` is the passphrase of a vault that has one. A damaged slot takes no passphrase, and nobody
  /// could mend it if it were asked for. Returns the slots that this was proved of.
  func provePassphrase(_ current: Secret?) async throws(VaultError) -> [Slot] {
    let (slots, slot, vaultID) = try provable(.passphrase)
    guard let slot else { return slots }
    guard let current else { throw .passphraseNeeded }
    _ = try await prove(current, slot, vaultID: vaultID)
    return slots
  }

  /// All slots, and that of `kind` where it is whole. Not the session: whoever holds one keeps the database open.
  private func provable(_ kind: SlotKind) throws(VaultError) -> (all: [Slot], slot: Slot?, vaultID: [UInt8]) {
    guard let session = try openedSession(), let keys else { throw .absent }
    var slot = session.slot(kind)
    if let found = slot, !session.isIntact(found, keys: keys) { slot = nil }
    return (session.slots, slot, session.database.vaultID)
  }

  /// Throws unless the slots are those that a secret was proved of. The proof and all further hashes let others in between,
  /// and a passphrase or code that was replaced meanwhile must change nothing any more. A rekey seals every slot anew, so
  /// this tells it, too.
  func requireUnchanged(_ proved: [Slot]) throws(VaultError) {
    guard let session = try openedSession() else { throw .absent }
    guard session.slots == proved else { throw .slotsChanged }
  }

  private func setSlot(
    _ kind: SlotKind, to secret: Secret, cost: PasswordHash.Cost, _ proved: [Slot]
  ) async throws(VaultError) {
    let salt = random.bytes(PasswordHash.saltCount)
    let key: SealingKey
    do throws(SealingError) { key = try await stretcher.key(for: secret, salt: salt, cost: cost) } catch {
      throw error.vaultError
    }
    try requireUnchanged(proved)
    guard let session = try openedSession(), let keys else { throw .locked }
    let slot = try sealing { () throws(SealingError) in
      try Slot.stretched(
        kind, wrapping: keys.data, under: key, salt: salt, cost: cost, vaultID: session.database.vaultID,
        random: random)
    }
    defer { judgeNewCode() }
    if kind == .recoveryCode, let directory = try vaultDirectory() {
      codeToJudge = CodeToJudge(slot: slot, wasUntold: isCodeUntold)
      try FlagFile.untoldCode.set(in: directory, location)
    }
    try put(slot)
  }

  /// Whether the code that was written last counts, as the open vault has it; while that is shut, nobody knows. A code that
  /// does not count leaves the one of before, of which is told what was told.
  func judgeNewCode() {
    guard let session, let code = codeToJudge else { return }
    codeToJudge = nil
    if session.slots.contains(code.slot) {
      newestCode = nil
    } else if !code.wasUntold {
      codeIsTold()
    }
  }

  /// Answers `code` to who asked for it. `confirms`: until ``confirmCode(_:)`` says that a person has it, nobody is taken to.
  func handOn(_ code: RecoveryCode, confirms: Bool) {
    newestCode = code.digest
    if !confirms { codeIsTold() }
  }

  /// A person has the code `typed`. Another than the last one that was made here changes nothing.
  package func confirmCode(_ typed: Secret) async {
    guard codeToJudge == nil, let newestCode, RecoveryCode(typed: typed)?.digest == newestCode else { return }
    codeIsTold()
  }

  /// Whoever asked for the recovery code has it, or has shown to know it.
  func codeIsTold() {
    // No sync, in which a kill would be one that nobody is warned of: what comes back is a warning too many.
    do throws(VaultError) {
      guard let directory = try vaultDirectory() else { return }
      try FlagFile.untoldCode.clear(in: directory, location, isHint: true)
    } catch {}  // A warning too many, too.
  }

  var isCodeUntold: Bool {
    do throws(VaultError) {
      guard let directory = try vaultDirectory() else { return false }
      return try FlagFile.untoldCode.isSet(in: directory, location)
    } catch { return false }
  }
}
