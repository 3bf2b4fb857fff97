/// What could not be written to the vault and must not be lost.
extension Vault {
  package func spill(_ record: VaultRecord) async throws(VaultError) {
    guard let spill = spill() else { throw .storageFailed("there is no other place to keep it") }
    do throws(VaultError) {
      // Nobody would look for it.
      guard let row = entry(of: record.id) else { throw .storageFailed("the vault has no row that it could follow") }
      try spill.write(record, following: row.commit, random: random)
    } catch {
      unkept.insert(record.id)
      throw error
    }
    unkept.remove(record.id)
    noteKept(record, by: spill)
  }

  /// It is removed by the next write of the record.
  private func noteKept(_ record: VaultRecord, by spill: Spill) {
    spilled.insert(record.id)
    let lasts = entry(of: record.id).map { spill.isLasting(record, following: $0.commit) } ?? true
    if lasts { spilledToMemory.remove(record.id) } else { spilledToMemory.insert(record.id) }
  }

  /// The row of `id`, also while a failed write has closed the database.
  private func entry(of id: RecordID) -> Catalogue.Entry? { (session?.catalogue.entries ?? last?.entries)?[id] }

  private func spill() -> Spill? {
    guard !location.asideDirectories.isEmpty, let vaultID, let keys else { return nil }
    return Spill(directories: location.spillDirectories, vaultID: vaultID, keys: keys)
  }

  /// The vault has `id` itself again, or nobody wants it any more.
  func unspill(_ id: RecordID) {
    unkept.remove(id)
    spilledToMemory.remove(id)
    guard spilled.remove(id) != nil else { return }
    try? spill()?.remove(id)
  }

  /// Writes what follows the vault's own into the vault and removes the rest: once the vault has another key, nobody finds or
  /// opens it any more.
  func takeInSpilled() throws(VaultError) {
    guard let spill = spill(), spill.isThere, let entries = session?.catalogue.entries else { return }
    for (id, entry) in entries {
      if let kept = try spill.read(id, following: entry.commit) { try write(kept) }
      try spill.remove(id)
    }
    (spilled, spilledToMemory) = ([], [])
  }

  /// `records` with what was kept aside in place of those that it followed, and written to the vault where that works by now.
  /// Throws where something is kept that cannot be read: without it a refresh token may be sent a second time.
  func merged(_ records: [VaultRecord]) async throws(VaultError) -> [VaultRecord] {
    guard let spill = spill(), spill.isThere else { return records }
    var merged = records
    for (index, record) in records.enumerated() {
      guard spill.holds(record.id) else { continue }
      guard let row = entry(of: record.id) else { continue }
      let kept = try spill.read(record.id, following: row.commit)
      // The next write of the record removes it, whatever it is. The newest vault may be put back in the place of an older one.
      if kept != nil || rollback == nil { spilled.insert(record.id) }
      guard var kept, kept.version > record.version else { continue }
      noteKept(kept, by: spill)
      kept.version += 1
      kept.commit = record.commit
      merged[index] = kept
      _ = try? await put(kept)
    }
    return merged
  }
}
