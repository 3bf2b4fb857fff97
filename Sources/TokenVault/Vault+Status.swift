extension Vault {
  /// Looks at the disk but opens nothing.
  package func status() async -> VaultStatus {
    var status = VaultStatus(state: .closed, path: location.databaseFile, slots: [])
    if let session, let keys {
      status.state = .open
      status.slots = session.slotStatus(keys: keys)
      status.recordCount = session.catalogue.entries.count
      status.commit = session.catalogue.commit
      status.isMemoryLocked = keys.areLocked
      status.rollback = rollback
      status.counterProblem = session.counterProblem
      return status
    }
    do throws(VaultError) {
      guard let directory = try vaultDirectory(),
        try VaultDatabase.isPresent(in: directory, path: location.databaseFile)
      else {
        status.state = .absent
        return status
      }
      if try Hold.isSet(in: directory, location) {
        status.state = .locked
      } else if let lastFailure {
        status.state = .failed(lastFailure)
      }
    } catch { status.state = .failed(error) }
    return status
  }
}

extension Vault.Session {
  /// Every slot the database or the catalogue knows, by number.
  func slotStatus(keys: VaultKeys) -> [VaultStatus.Slot] {
    let present = slots.map { slot in
      let fingerprint = try? slot.fingerprint(keys: keys)
      return VaultStatus.Slot(
        number: slot.number, kind: SlotKind(rawValue: slot.kind),
        isIntact: fingerprint != nil && fingerprint == catalogue.slots[slot.number])
    }
    let missing = Set(catalogue.slots.keys).subtracting(slots.map(\.number))
      .map { VaultStatus.Slot(number: $0, kind: nil, isIntact: false) }
    return (present + missing).sorted { $0.number < $1.number }
  }
}
