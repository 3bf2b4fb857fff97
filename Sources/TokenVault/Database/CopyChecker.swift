import Sealing

/// Reads a copy of a vault that is to be checked, perhaps a stranger's, on a thread of its own: whatever is in it, the
/// vault goes on beside it. What it may take of disk, memory and processor is bounded.
actor CopyChecker {
  /// Bytes of a file that is taken: a vault of 100,000 accounts is smaller, and one of 1,000 whose servers fill each
  /// record. Also in `AgentWire.VaultCheck`.
  static let maximumByteCount = 1 << 30

  /// Bytes of a sealed catalogue that is opened: 130,000 records.
  private static let maximumCatalogueCount = 4 << 20

  private nonisolated let executor: BlockingExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private let folder: String
  private let path: String
  private var database: VaultDatabase?

  /// `folder` is the vault's.
  init(folder: String, executor: BlockingExecutor) {
    self.folder = folder
    self.executor = executor
    path = folder + "/" + VaultLocation.checkName
  }

  /// Throws where no vault that we write would cost that much to open: whoever made the copy says what its hash costs.
  static func refuseExcess(_ slot: Slot) throws(VaultError) {
    let most = PasswordHash.Cost.sensitive
    guard slot.passes <= most.passes, slot.memoryKiB <= most.memoryKiB else {
      throw .damaged(
        .slot,
        what: "slot \(slot.number): it wants \(slot.passes) passes over \(slot.memoryKiB >> 10) MiB of memory; "
          + "\(most.passes) over \(most.memoryKiB >> 10) MiB is the most")
    }
  }

  /// Copies the file at `source`, opens the copy and checks its structure. Returns what opens it.
  func take(_ source: String) throws(VaultError) -> (slots: [Slot], vaultID: [UInt8]) {
    guard let directory = try PrivateDirectory.open(folder, isSecret: true) else { throw .absent }
    try VaultDatabase.remove(in: directory, VaultLocation.checkName, path: path)
    try PrivateFile.copy(
      from: source, in: directory, VaultLocation.checkName, path, limit: CopyChecker.maximumByteCount)
    try VaultDatabase.checkKind(in: directory, VaultLocation.checkName, path: path)
    try VaultDatabase.checkFirstPage(in: directory, VaultLocation.checkName, path: path)
    let database = try VaultDatabase.open(in: directory, VaultLocation.checkName, path: path)
    self.database = database
    return (try database.slots(), database.vaultID)
  }

  func catalogue(_ keys: VaultKeys) throws(VaultError) -> Catalogue {
    guard let database else { throw .absent }
    let sealed = try database.sealedCatalogue()
    guard sealed.count <= CopyChecker.maximumCatalogueCount else {
      throw .damaged(what: "catalogue: more records than a copy may have")
    }
    return try Catalogue(opening: sealed, vaultID: database.vaultID, keys: keys)
  }

  /// Opens every record. Returns what should be there, and is.
  func judge(_ keys: VaultKeys) throws(VaultError) -> Catalogue {
    _ = try catalogue(keys)
    guard let database else { throw .absent }
    let checked = try CheckedDatabase(database, keys: keys)
    for id in checked.catalogue.sortedIDs { _ = try checked.record(id) }
    return checked.catalogue
  }

  /// Returns when nothing is judged any more, so that no key is in use here.
  func finish() {}

  /// Closes the copy and removes it.
  func remove() {
    database = nil
    do throws(VaultError) {
      guard let directory = try PrivateDirectory.open(folder, isSecret: true) else { return }
      try VaultDatabase.remove(in: directory, VaultLocation.checkName, path: path)
    } catch {}  // The next step that removes strays says why it cannot.
  }
}
