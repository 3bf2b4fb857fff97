import Glibc

extension Vault {
  /// Looks at the disk. Opens only what took the place of the open database, and the database that a failed write has closed.
  package func status() async -> VaultStatus {
    lookAgain()
    lookAtCounterAgain()
    var status = found()
    status.digest = digest
    return status
  }

  /// What a person confirms is about this vault: another one after each change of what opens it. Where nobody can read what
  /// does, it is about the file: one that is gone may come back, and one that is damaged may be whole again.
  var digest: String {
    let path = location.databaseFile
    var condition = ByteWriter()
    condition.integer(UInt32(keyFileFault == nil ? 1 : 0))
    let slots = (try? slotsOnDisk()) ?? []
    if slots.isEmpty || isKnownDamaged { condition.raw(fileMark) }
    return Slot.digest(of: slots, in: path, condition: condition.bytes)
  }

  /// Which file the database is, as it was written last; empty: none is there.
  var fileMark: [UInt8] {
    var status = stat()
    guard stat(location.databaseFile, &status) == 0 else { return [] }
    var mark = ByteWriter()
    for number in [UInt64(status.st_dev), UInt64(status.st_ino), UInt64(bitPattern: Int64(status.st_size))] {
      mark.integer(number)
    }
    mark.integer(UInt64(bitPattern: Int64(status.st_mtim.tv_sec)))
    mark.integer(UInt64(bitPattern: Int64(status.st_mtim.tv_nsec)))
    return mark.bytes
  }

  private func found() -> VaultStatus {
    var status = VaultStatus(state: .closed, path: location.databaseFile, slots: [])
    status.filesProblem = filesProblem
    if status.filesProblem == nil, !unkept.isEmpty { status.filesProblem = lossOfUnkept.reason(location.directory) }
    if status.filesProblem == nil, replaced != nil {
      status.filesProblem = VaultError.replaced(path: location.databaseFile).reason(location.directory)
    }
    status.roomProblem = roomProblem
    status.isKeptInMemory = !spilledToMemory.isEmpty
    status.isAloneWithLast = replaced != nil || hasLostLog || lacksSlotsOfNow || !unkept.isEmpty
    if let session, let keys {
      status.state = .open
      status.slots = session.slotStatus(keys: keys)
      status.recordCount = session.catalogue.entries.count
      status.commit = session.catalogue.commit
      status.isMemoryLocked = keys.areLocked
      status.rollback = rollback
      status.rollbackDigest = rollback == nil ? nil : try? contentDigest(session)
      status.counterProblem = session.counterProblem
      status.isCounterMadeAnew = session.isCounterMadeAnew
      status.purgeProblem = purgeProblem
      status.isCodeUntold = session.slot(.recoveryCode) != nil && isCodeUntold
      status.keyFileFault = keyFileFault
      status.isKeyFileWaiting = isKeyFileWaiting
      return status
    }
    do throws(VaultError) {
      guard let directory = try presentDirectory() else {
        status.state = .absent
        return status
      }
      let isLocked = try FlagFile.hold.isSet(in: directory, location)
      if isHeld || isLocked, !isKnownDamaged {
        status.state = .locked
      } else if let lastFailure {
        status.state = .failed(lastFailure)
      }
      // People have to know what to type, and first of all whether anything opens it.
      do throws(VaultError) {
        status.slots = try slotsOnDisk().map { VaultStatus.Slot($0, isIntact: true) }
      } catch { status.state = .failed(error) }
      status.keyFileFault = keyFileFault
    } catch { status.state = .failed(error) }
    return status
  }

  /// Why the key file does not open the vault; nil: it does, or, while the vault is shut, it is there and as it was written.
  var keyFileFault: VaultError? {
    do throws(VaultError) {
      let keys = try [KeyFile.read(location.keyFile), KeyFile.readNext(location.keyFile)].compactMap(\.self)
      if keys.isEmpty { return location.keyMissing }
      guard let session, let slot = session.slot(.keyFile) else { return nil }
      let opens = keys.contains { (try? slot.open(keyFile: $0, vaultID: session.database.vaultID)) != nil }
      return opens ? nil : .damaged(.keyFile(path: location.keyFile), what: "it is the key file of another vault")
    } catch { return error }
  }

  /// Whether the open vault's key file is the one that a rekey has made, still under its first name.
  var isKeyFileWaiting: Bool {
    guard let session, let slot = session.slot(.keyFile), let next = try? KeyFile.readNext(location.keyFile) else {
      return false
    }
    return (try? slot.open(keyFile: next, vaultID: session.database.vaultID)) != nil
  }

  /// Lets go of a database that was moved away or replaced, and takes what is there now, as soon as it is. Opens again what a
  /// failed write has closed, and ends a change of the slots that was cut short.
  func lookAgain() {
    try? rescueLog()
    try? judgeFiles()
    if session == nil, keys != nil, !isHeld, lastFailure?.mayPass == true { _ = try? openedSession() }
    if session != nil, purgeProblem != nil { try? finishSlotChange() }
  }
}

extension VaultStatus.Slot {
  init(_ slot: Slot, isIntact: Bool) {
    self.init(
      number: slot.number, kind: SlotKind(rawValue: slot.kind), isIntact: isIntact, passes: slot.passes,
      memoryKiB: slot.memoryKiB)
  }
}

extension Vault.Session {
  /// Every slot the database or the catalogue knows, by number.
  func slotStatus(keys: VaultKeys) -> [VaultStatus.Slot] { catalogue.status(of: slots, keys: keys) }

  func isIntact(_ slot: Slot, keys: VaultKeys) -> Bool { catalogue.isIntact(slot, keys: keys) }
}

extension Catalogue {
  /// `present` and those that should be, by number.
  func status(of present: [Slot], keys: VaultKeys) -> [VaultStatus.Slot] {
    let missing = Set(slots.keys).subtracting(present.map(\.number))
      .map { VaultStatus.Slot(number: $0, kind: SlotKind(rawValue: $0), isIntact: false) }
    let found = present.map { VaultStatus.Slot($0, isIntact: isIntact($0, keys: keys)) }
    return (found + missing).sorted { $0.number < $1.number }
  }

  /// Whether the slot is the one that was written.
  func isIntact(_ slot: Slot, keys: VaultKeys) -> Bool {
    guard let known = slots[slot.number] else { return false }
    return (try? slot.fingerprint(keys: keys)) == known
  }
}
