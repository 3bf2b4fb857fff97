import Sealing

/// How a change of the slots becomes durable.
extension Vault {
  /// A recovery code that was written, and of which nobody knows yet whether it counts.
  struct CodeToJudge {
    let slot: Slot
    /// Of the code before it.
    let wasUntold: Bool
  }

  /// Puts a slot in the place of the one with its number, durably.
  func put(_ slot: Slot) throws(VaultError) {
    guard let session, let keys else { throw .locked }
    var catalogue = session.catalogue
    catalogue.slots[slot.number] = try sealing { () throws(SealingError) in try slot.fingerprint(keys: keys) }
    let slots = (session.slots.filter { $0.number != slot.number } + [slot]).sorted { $0.number < $1.number }
    try changeSlots(.slot(slot), to: slots, catalogue)
  }

  /// Makes `change`, after which the vault has `slots`, durable. Returns where it counts, and throws where it does not: a
  /// commit that fails in its last step is in the log all the same, and the next opening takes it from there. So the vault is
  /// opened again at once, and its slots tell. Where it does not open, the error says that nobody knows yet.
  func changeSlots(
    _ change: VaultDatabase.Change, to slots: [Slot], _ newCatalogue: Catalogue
  ) throws(VaultError) {
    try noteSlotChange()
    var catalogue = newCatalogue
    catalogue.commit = nextCommit(after: catalogue)
    do throws(VaultError) {
      try commit(change, catalogue)
      session?.slots = slots
    } catch {
      let failure = error
      let found: [Slot]?
      do throws(VaultError) { found = try openedSession()?.slots } catch { throw failure.withUnknownOutcome }
      guard found == slots else { throw failure }
    }
  }

  /// Before the slots change: an agent that is killed before ``finishSlotChange(removesKeyFile:)`` leaves that to the next one.
  func noteSlotChange() throws(VaultError) {
    guard let directory = try vaultDirectory() else { throw .locked }
    try FlagFile.purgeDue.set(in: directory, location)
  }

  /// Ends a change of the slots, which is durable already, or one that was cut short before: removes a key file that no slot
  /// is for, and what the change left in free pages, in the log and in copies. Neither keeps the other from being done, and
  /// the mark of the change stays until nothing is left. Until then ``status()`` tells why, and tries again.
  func finishSlotChange(removesKeyFile: Bool = false) throws(VaultError) {
    try judgeFiles()
    guard let session, let directory = try vaultDirectory() else { throw .locked }
    var failure: VaultError?
    // First: a disk without room for the purge has all the room that this takes. A key file that nobody asked to remove is
    // left over from a change before this one, or it is another vault's.
    if removesKeyFile || purgeProblem != nil, session.slot(.keyFile) == nil {
      do throws(VaultError) { try removeKeyFile() } catch { failure = error }
    }
    do throws(VaultError) {
      do throws(VaultError) { try session.database.purge() } catch { throw forget(after: error) }
      try removeStrays(in: directory)
      if let failure { throw failure }
      try FlagFile.purgeDue.clear(in: directory, location, isHint: true)
      purgeProblem = nil
    } catch {
      let problem = "what opened it before may still be there: \(error.reason(location.directory))"
      purgeProblem = problem
      throw .storageFailed("the change is made, but \(problem)")
    }
  }

  private func removeKeyFile() throws(VaultError) {
    try KeyFile.remove(location.keyFile, flushesAnyway: true)
    try KeyFile.removeNext(location.keyFile)
    try KeyFile.removeAside(location.keyFile)
  }
}

extension VaultError {
  /// The failure of a change that may have been made.
  fileprivate var withUnknownOutcome: VaultError {
    let text = "whether the change is made shows when the vault opens again: "
    return switch self {
    case .storageFailed(let why): .storageFailed(text + why)
    case .noRoom(let folder, let why): .noRoom(folder: folder, text + why)
    default: self
    }
  }
}
