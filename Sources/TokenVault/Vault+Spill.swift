/// What could not be written to the vault and must not be lost.
extension Vault {
  package func spill(_ record: VaultRecord) async throws(VaultError) {
    guard let spill = spill() else { throw .storageFailed("there is no other place to keep it") }
    try spill.write(record, random: random)
    spilled.insert(record.id)
  }

  private func spill() -> Spill? {
    guard let directory = location.spillDirectory, let vaultID, let keys else { return nil }
    return Spill(directory: directory, vaultID: vaultID, keys: keys)
  }

  /// The vault has `id` itself again, or nobody wants it any more.
  func unspill(_ id: RecordID) {
    guard spilled.remove(id) != nil else { return }
    try? spill()?.remove(id)
  }

  /// Writes what is newer than the vault's own into the vault and removes the rest: once the vault has another key, nobody
  /// finds or opens it any more.
  func takeInSpilled() throws(VaultError) {
    guard let spill = spill(), spill.isThere, let entries = session?.catalogue.entries else { return }
    for (id, entry) in entries {
      if let kept = try spill.read(id), kept.version > entry.version { try write(kept) }
      try spill.remove(id)
    }
    spilled = []
  }

  /// `records` with what was kept aside in place of older versions, and written to the vault where that works by now.
  func merged(_ records: [VaultRecord]) async -> [VaultRecord] {
    guard let spill = spill(), spill.isThere else { return records }
    var merged = records
    for (index, record) in records.enumerated() {
      guard var kept = try? spill.read(record.id) else { continue }
      spilled.insert(record.id)
      guard kept.version > record.version else {
        unspill(record.id)
        continue
      }
      kept.version += 1
      merged[index] = kept
      try? await put(kept)
    }
    return merged
  }
}
