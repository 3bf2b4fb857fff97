package import Sealing

/// Making, locking, unlocking and closing the vault.
extension Vault {
  /// Makes a vault with a key-file slot and a recovery code, which is shown to the user once. The key file is durable
  /// before the vault. `anew`: in place of one that is gone, too, or that is damaged, whose files are set aside, as long as
  /// it is as it was `shown`, a ``VaultStatus/digest``. Throws `alreadyExists`, `gone`, `damaged`, `otherThanShown`.
  package func create(
    anew: Bool = false, confirmsCode: Bool = false, shown: String? = nil
  ) async throws(VaultError) -> RecoveryCode {
    if anew { lookAgain() }
    do throws(VaultError) {
      if try openedSession() != nil {
        // The file may be damaged behind an open vault, which is read from memory.
        if anew { _ = try await check() }
        throw .alreadyExists(path: location.databaseFile)
      }
    } catch {
      var isThere = true
      switch error {
      case .gone where anew: isThere = false
      case .damaged(.contents, _) where anew: break
      // A lock keeps out who would open it, and nothing opens one that is damaged.
      case .locked where anew && isDamagedOnDisk: break
      default: throw error
      }
      if let shown, shown != digest { throw .otherThanShown(path: location.databaseFile) }
      if isThere { try setAside() }
    }
    let code = try await makeVault(anew: anew)
    handOn(code, confirms: confirmsCode)
    return code
  }

  private var isDamagedOnDisk: Bool {
    if isKnownDamaged { return true }
    do throws(VaultError) { _ = try slotsOnDisk() } catch {
      if case .damaged(.contents, _) = error { return true }
    }
    return false
  }

  private func setAside() throws(VaultError) {
    guard let directory = try vaultDirectory() else { return }
    try takeLock(in: directory)
    forget()
    try LeftoverFiles.setAside(in: directory, location.directory)
  }

  // MARK: Locking

  /// The wish to have it locked, durably: from now on a restart finds the vault locked. What is open stays open, until
  /// `lock`, for those who have something to write. Returns false where there is no vault.
  package func hold() async throws(VaultError) -> Bool {
    guard let directory = try presentDirectory() else { return false }
    try takeLock(in: directory)
    try FlagFile.hold.set(in: directory, location)
    // Whoever waits for a copy is late; it is no reason to leave the vault open.
    try? removeStrays(in: directory)
    return true
  }

  /// Forgets every key and keeps the vault shut, over restarts too, until an `unlock`. While slot 1 is there this is a
  /// hold, not a seal: the key file still opens the vault. No vault: nothing to lock.
  ///
  /// When it throws, the keys are forgotten all the same, and this process keeps the vault shut; a restart may not.
  package func lock() async throws(VaultError) {
    var failure: VaultError?
    do throws(VaultError) { isHeld = try await hold() } catch {
      failure = error
      // A vault that another process holds is not ours to keep shut.
      isHeld = lock != nil
    }
    failure = failure ?? lossOnClosing()
    forget()
    keys = nil
    do throws(VaultError) { try rescueLog() } catch { failure = failure ?? error }
    await judging?.finish()
    if let failure { throw failure }
  }

  /// Puts right what others have put over the open vault, while there is something to do that with.
  ///
  /// - Returns: what is lost with the keys, since it could not be put right; nil: nothing.
  private func lossOnClosing() -> VaultError? {
    lookAgain()
    if !unkept.isEmpty { return lossOfUnkept }
    if replaced != nil { return .replaced(path: location.databaseFile) }
    if hasLostLog, let database = stranded ?? session?.database, !database.isContentAsWritten {
      return .storageFailed("\(database.path)-wal was taken away, and \(database.path) written to by another program")
    }
    guard session == nil, keys != nil, let lastFailure else { return nil }
    guard lastFailure.mayPass else { return lastFailure }
    guard lacksSlotsOfNow else { return nil }
    return .storageFailed(
      "what opened the vault last does not open the older one that lies in its place, and could not be written there: "
        + lastFailure.reason(location.directory))
  }

  /// What is told where no place takes the newest of some records.
  var lossOfUnkept: VaultError {
    .storageFailed("no disk takes what \(Self.logins(unkept.count)) got last, and this agent alone has it")
  }

  /// Whether somebody without a secret could open the vault: its key file.
  /// Where that cannot be seen, since another program holds the database for instance, it is taken for true.
  package var opensWithoutSecret: Bool {
    get async {
      guard let slots = try? slotsOnDisk() else { return true }
      return slots.slot(.keyFile) != nil && KeyFile.isThere(location.keyFile)
    }
  }

  // MARK: Unlocking

  /// Ends a `lock` by the key file. Throws `locked` where no key file opens the vault.
  package func unlock() async throws(VaultError) {
    guard let directory = try presentDirectory() else { return }
    try takeLock(in: directory)
    // The key first: a vault that cannot be opened stays locked.
    let wasOpen = keys != nil
    if session == nil { _ = try openSession(in: directory, keysFrom: keysFromKeyFile) }
    try release(in: directory, wasOpen: wasOpen)
  }

  /// Opens the vault by its passphrase and ends a `lock`. Throws `wrongPassphrase`; `tooManyUnlocks` when four others
  /// wait; `tooManyTries`; `noSuchSlot`.
  package func unlock(passphrase: Secret) async throws(VaultError) {
    try await unlock(.passphrase, by: passphrase)
  }

  /// Throws unless `passphrase` is that of the open vault, or it has none; `locked` where a `lock` has come. Else as
  /// ``unlock(passphrase:)``.
  package func check(passphrase: Secret) async throws(VaultError) {
    try stretcher.enter()
    defer { stretcher.leave() }
    _ = try await provePassphrase(passphrase)
  }

  /// Opens the vault by its recovery code, ends a `lock`, and writes slot 1 anew for the key file, which is made where
  /// it is missing; a vault without slot 1 is left so. Throws `invalidRecoveryCode`, and as `unlock(passphrase:)`.
  package func unlock(recoveryCode typed: Secret) async throws(VaultError) {
    // A checksum tells mistypings from wrong codes: those cost nothing.
    guard let code = RecoveryCode(typed: typed) else { throw .invalidRecoveryCode }
    try await unlock(.recoveryCode, by: code.canonical)
    codeIsTold()
    // The vault is open, whatever becomes of its key file: `status` tells what is wrong with that.
    try? restoreKeyFileSlot()
  }

  private func unlock(_ kind: SlotKind, by secret: Secret) async throws(VaultError) {
    try stretcher.enter()
    defer { stretcher.leave() }
    guard let (slot, vaultID) = try slot(kind) else { return }
    let data = try await prove(secret, slot, vaultID: vaultID)
    // The vault may have been changed, locked, unlocked or removed meanwhile.
    guard let directory = try presentDirectory() else { return }
    try takeLock(in: directory)
    let wasOpen = keys != nil
    if let session {
      guard session.slots.contains(slot) else { throw .slotsChanged }
    } else {
      _ = try openSession(in: directory) { (_, slots) throws(VaultError) in
        guard slots.contains(slot) else { throw .slotsChanged }
        return try sealing { () throws(SealingError) in try VaultKeys(data: data) }
      }
    }
    try release(in: directory, wasOpen: wasOpen)
  }

  /// Ends the lock of a vault that a secret has opened. Where the disk cannot be told, the vault is shut again: open behind a
  /// lock, it would need no secret for the next unlock. One that was open before, while a lock began, is left to that.
  private func release(in directory: borrowing FileDescriptor, wasOpen: Bool) throws(VaultError) {
    do throws(VaultError) { try FlagFile.hold.clear(in: directory, location) } catch {
      if !wasOpen {
        forget()
        keys = nil
        // What told of the lock may be gone, and only its removal may not be durable.
        isHeld = true
      }
      throw error
    }
    isHeld = false
    lastFailure = nil
  }

  /// The slot of `kind`, of the open vault or straight from the disk; nil when there is no vault.
  private func slot(_ kind: SlotKind) throws(VaultError) -> (Slot, vaultID: [UInt8])? {
    if let session {
      guard let slot = session.slot(kind) else { throw .noSuchSlot(kind) }
      return (slot, session.database.vaultID)
    }
    guard let directory = try presentDirectory() else { return nil }
    try takeLock(in: directory)
    guard let database = try VaultDatabase.open(in: directory, path: location.databaseFile) else { return nil }
    guard let slot = try database.slots().slot(kind) else { throw .noSuchSlot(kind) }
    return (slot, database.vaultID)
  }

  /// The slots, of the open vault or straight from the disk.
  func slotsOnDisk() throws(VaultError) -> [Slot] {
    if let session { return session.slots }
    guard let directory = try vaultDirectory() else { return [] }
    try takeLock(in: directory)
    return try VaultDatabase.open(in: directory, path: location.databaseFile)?.slots() ?? []
  }

  /// The data key in `slot` by what a person typed. Throws `wrongPassphrase`, `invalidRecoveryCode`. The caller has
  /// entered the stretcher. `isCopy`: of a file that somebody named; that its secret is right ends no wait for guesses.
  func prove(
    _ secret: Secret, _ slot: Slot, vaultID: [UInt8], isCopy: Bool = false
  ) async throws(VaultError) -> SealingKey {
    do throws(SealingError) {
      let key = try await stretcher.key(for: secret, salt: slot.salt, cost: slot.cost())
      let data = try slot.open(stretched: key, vaultID: vaultID)
      if !isCopy { stretcher.tried(isRight: true) }
      return data
    } catch {
      switch error {
      case .notAuthentic:
        stretcher.tried(isRight: false)
        throw slot.kind == SlotKind.passphrase.rawValue ? .wrongPassphrase : .invalidRecoveryCode
      case .outOfRange(let what): throw .damaged(.slot, what: "slot \(slot.number): \(what)")
      case .libraryUnusable, .outOfMemory: throw error.vaultError
      }
    }
  }

  /// Forgets the keys, closes the files and gives up the vault's lock. The next call opens it all again.
  ///
  /// - Returns: what is lost, since what others have put over the open vault could not be put right; nil: nothing.
  @discardableResult
  package func close() async -> VaultError? {
    removeStrays()
    var failure = lossOnClosing()
    forget()
    do throws(VaultError) { try rescueLog() } catch { failure = failure ?? error }
    stranded?.connection.close()
    stranded = nil
    keys = nil
    lock = nil
    isHeld = false
    lastFailure = nil
    return failure
  }
}
