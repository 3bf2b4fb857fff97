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
    guard let directory = try vaultDirectory() else { throw .locked }
    // Before the change: an agent that is killed before ``purge()`` leaves that to the next one.
    try FlagFile.purgeDue.set(in: directory, location)
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
