package import Sealing
import SystemFacts

/// The user's vault: sealed records in SQLite, opened by key slots, held by one process at a time.
///
/// Runs on a thread of its own, since fsync and SQLite block; Argon2id has another. The first call that needs the vault
/// opens it. Format and rules: docs/vault-format.md.
package actor Vault: RecordStore {
  let location: VaultLocation
  let random: any RandomSource
  let recoveryCost: PasswordHash.Cost
  let socketPath: String
  nonisolated let stretcher: Stretcher
  private nonisolated let executor = BlockingExecutor(label: "oauthctl.vault")
  /// Reads copies that are to be checked.
  nonisolated let checkExecutor = BlockingExecutor(label: "oauthctl.check")

  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Held from the first opening to `close`.
  var lock: VaultLock?
  /// Outlive a failed write, so that the vault can be opened again without asking anybody.
  var keys: VaultKeys? {
    didSet { if keys == nil { (known, last, replaced, taken, unkept) = (nil, nil, nil, nil, []) } }
  }
  var session: Session?
  /// Of the vault that `keys` are of.
  var vaultID: [UInt8]?
  /// Of the same, as it was when its files were closed last: what others put in their place is compared with it.
  var known: (catalogue: Catalogue, slots: [Slot])?
  /// What was in it then; nil while it is open.
  var last: VaultContents?
  /// What was read from the vault, where another one lies in its place by now and nobody was told: see ``replacement()``.
  var replaced: VaultContents?
  /// How often whoever has read it was told so: see ``VaultRecord/replacements``.
  var replacements: UInt64 = 0
  /// What whoever has read the vault is being told of.
  var taken: VaultContents?
  /// Records that are kept aside, those of them that a restart of the machine would lose, and those that no place has taken.
  var spilled: Set<RecordID> = []
  var spilledToMemory: Set<RecordID> = []
  /// Why nothing was to be sent when that was asked last.
  var lackOfRoom: VaultError?
  var unkept: Set<RecordID> = []
  /// The late answers that were given to who asked for them.
  var handedOut: [RecordID: Set<LateAnswerFolders.File>] = [:]
  /// Set by `lock` in this process; the file that says so may have failed to be written.
  var isHeld = false
  /// Which recovery code was made last: ``RecoveryCode/digest``.
  var newestCode: [UInt8]?
  /// Set while a recovery code is written, and after that failed until the vault has opened again.
  var codeToJudge: CodeToJudge?
  /// There is one place for the copy of a backup.
  var isChecking = false
  /// Has keys in use.
  var judging: CopyChecker?
  /// The names of the last backups, oldest first; most were taken away since.
  var backups: [String] = []
  let backupLife: Duration
  var lastFailure: VaultError? {
    didSet { if case .damaged(.contents, _) = lastFailure { damagedFile = fileMark } }
  }
  /// See ``fileMark``.
  var damagedFile: [UInt8]?
  /// Stays known while a failed write has closed the database.
  var rollback: Rollback?
  /// A write failed: what the log holds may not be on disk.
  var logIsSuspect = false
  /// Why the vault's files are not written to; nil: they are.
  var filesProblem: String?
  /// Closed but for its connection, which has the only copy of a log that was taken away and could not be put back.
  var stranded: VaultDatabase?
  /// Why what a change of the slots replaced may still be there. ``status()`` tries to remove it again.
  var purgeProblem: String?

  /// An open and judged database.
  struct Session {
    let database: VaultDatabase
    let counter: CommitCounter
    var catalogue: Catalogue
    var slots: [Slot]
    var counterProblem: String? {
      didSet { if counterProblem == nil { isCounterMadeAnew = false } }
    }
    /// The problem is that the counter could not be written; it goes with the next write that works.
    var isCounterUnwritten = false
    /// The problem is that the counter was lost, and has been made anew.
    var isCounterMadeAnew = false

    mutating func counterFailed(_ problem: String) {
      counterProblem = problem
      isCounterMadeAnew = false
      isCounterUnwritten = true
    }

    mutating func counterWritten() {
      if isCounterUnwritten { counterProblem = nil }
      isCounterUnwritten = false
    }

    func slot(_ kind: SlotKind) -> Slot? { slots.slot(kind) }
  }

  /// Touches nothing yet. `socketPathForLock` is told to an agent that finds the vault in use. `recoveryCost` is what
  /// hashing a new recovery code costs. `now` gives boot seconds; only waits after wrong passphrases depend on it. A
  /// backup that nobody has taken away after `backupLife` is removed.
  package init(
    location: VaultLocation, socketPathForLock: String, random: any RandomSource = SystemRandom(),
    recoveryCost: PasswordHash.Cost = .interactive, now: @escaping @Sendable () -> Double = BootClock.seconds,
    backupLife: Duration = .seconds(600)
  ) {
    self.location = location
    self.recoveryCost = recoveryCost
    self.random = random
    self.backupLife = backupLife
    socketPath = socketPathForLock
    stretcher = Stretcher(now: now)
  }

  // MARK: Records

  package func loadAll() async throws(VaultError) -> [VaultRecord] {
    let wasOpen = session != nil
    var records: [VaultRecord] = []
    guard let session = try openedSession({ records.append($0) }), let keys else { return [] }
    do throws(VaultError) {
      if wasOpen { try Vault.eachRecord(of: session, keys) { records.append($0) } }
    } catch {
      // Nothing is served from it, so it counts as one that does not open, for ``status()`` too.
      if case .damaged = error {
        try? session.database.allowCheckpoints(false)
        forget()
        lastFailure = error
      }
      throw error
    }
    (replaced, taken) = (nil, nil)
    if purgeProblem != nil { try? finishSlotChange() }
    do throws(VaultError) { return try await merged(records) } catch { throw shut(error) }
  }

  /// What cannot be read may be newer than what the database has: nothing is served from that until it can, as ``status()`` tells.
  func shut(_ failure: VaultError) -> VaultError {
    forget()
    lastFailure = failure
    return failure
  }

  /// Opens every record. Throws what is wrong with one.
  static func eachRecord(
    of session: Session, _ keys: VaultKeys, _ body: (VaultRecord) -> Void = { _ in }
  ) throws(VaultError) {
    for id in session.catalogue.sortedIDs { body(try record(id, in: session, keys)) }
  }

  /// One record, opened.
  static func record(_ id: RecordID, in session: Session, _ keys: VaultKeys) throws(VaultError) -> VaultRecord {
    let name = try sealing { () throws(SealingError) in try keys.rowName(of: id) }
    guard let entry = session.catalogue.entries[id], let sealed = try session.database.sealedRecord(name) else {
      throw .damaged(what: "record \(id): its row is missing")
    }
    return try RecordSeal.open(sealed, id: id, entry: entry, vaultID: session.database.vaultID, keys: keys)
  }

  @discardableResult
  package func put(_ record: VaultRecord) async throws(VaultError) -> UInt64 {
    guard record.payload.count <= VaultRecord.maximumPayloadCount else {
      throw .storageFailed("a record of \(record.payload.count) bytes; \(VaultRecord.maximumPayloadCount) is the most")
    }
    if try openedSession() == nil {
      // Its recovery code is told to nobody, and that is told.
      do throws(VaultError) { _ = try await makeVault() } catch {
        guard case .alreadyExists = error else { throw error }
      }
    }
    if let count = record.replacements, count != replacements { throw .replaced(path: location.databaseFile) }
    try write(record)
    return session?.catalogue.commit ?? 0
  }

  /// Makes a record durable in a vault that is there.
  func write(_ record: VaultRecord) throws(VaultError) {
    try judgeFiles()
    guard let session = try openedSession(), let keys else { throw .storageFailed("the vault vanished") }
    try checkNotReplaced()
    if let stored = session.catalogue.entries[record.id]?.version, stored >= record.version {
      throw .staleVersion(stored: stored)
    }
    if record.awaitsAnswer { try checkRoom() }
    var catalogue = session.catalogue
    catalogue.commit = nextCommit(after: catalogue)
    catalogue.entries[record.id] = Catalogue.Entry(version: record.version, commit: catalogue.commit)
    let (name, sealed) = try sealing { () throws(SealingError) in
      (
        try keys.rowName(of: record.id),
        try RecordSeal.seal(
          record, commit: catalogue.commit, vaultID: session.database.vaultID, keys: keys, random: random)
      )
    }
    try commit(.put(rowName: name, sealed: sealed), catalogue)
    unspill(record.id)
  }

  package func delete(_ id: RecordID) async throws(VaultError) {
    try judgeFiles()
    guard let session = try openedSession(), let keys else { return }
    try checkNotReplaced()
    guard session.catalogue.entries[id] != nil else { return }
    var catalogue = session.catalogue
    catalogue.commit = nextCommit(after: catalogue)
    catalogue.entries[id] = nil
    let name = try sealing { () throws(SealingError) in try keys.rowName(of: id) }
    try commit(.delete(rowName: name), catalogue)
    unspill(id)
    try? await removeLateAnswers(of: id)
  }

  // MARK: Steps

  /// The session, opened if need be; nil where no vault was ever made. Where it is opened now, `read` gets its records.
  func openedSession(_ read: (VaultRecord) -> Void = { _ in }) throws(VaultError) -> Session? {
    if let session { return session }
    do throws(VaultError) {
      let session = try openSession(read)
      lastFailure = nil
      return session
    } catch {
      // A lock keeps out who would look, and mends nothing.
      if error != .locked || !isKnownDamaged { lastFailure = error }
      throw error
    }
  }

  /// Whether the last look at the database found it damaged, and it is still that file.
  var isKnownDamaged: Bool {
    if case .damaged(.contents, _) = lastFailure { damagedFile == fileMark } else { false }
  }

  /// Makes one change and the catalogue durable, then remembers the commit outside. After a failure the database is
  /// closed; the next call opens and judges it anew.
  func commit(_ change: VaultDatabase.Change, _ newCatalogue: Catalogue) throws(VaultError) {
    let before = session?.catalogue
    try judgeFiles()
    guard var session, let keys else { throw .storageFailed("the vault is closed") }
    // Else two commits would have one number.
    guard session.catalogue == before else { throw .storageFailed("another program changed the vault at that moment") }
    var catalogue = newCatalogue
    // Found from the counter outside; from the first write on the vault itself remembers.
    catalogue.rollbackExpected = rollback?.expected ?? 0
    do throws(VaultError) {
      let sealed = try sealing { () throws(SealingError) in
        try catalogue.sealed(vaultID: session.database.vaultID, keys: keys, random: random)
      }
      try session.database.commit(change, catalogue: sealed)
    } catch {
      let failure = forget(after: error)
      last?.doubtful = catalogue.entries
      throw failure
    }
    session.catalogue = catalogue
    do throws(VaultError) {
      try session.counter.write(catalogue.commit)
      session.counterWritten()
    } catch { session.counterFailed(counterText(error)) }
    self.session = session
  }

  /// The folder of a vault that is there; nil where none was ever made. Throws `gone`.
  func presentDirectory() throws(VaultError) -> FileDescriptor? {
    if let directory = try vaultDirectory(),
      try VaultDatabase.isPresent(in: directory, path: location.databaseFile)
    {
      return directory
    }
    try checkNeverMade()
    return nil
  }

  /// Nil when there is none.
  func vaultDirectory() throws(VaultError) -> FileDescriptor? {
    guard location.directory.hasPrefix("/") else {
      throw .storageFailed("not an absolute path: \(location.directory)")
    }
    guard let directory = try PrivateDirectory.open(location.directory, isSecret: true) else { return nil }
    if !location.allowsNetworkFileSystem { try NetworkFileSystem.refuse(location.directory) }
    return directory
  }

  func takeLock(in directory: borrowing FileDescriptor) throws(VaultError) {
    try rescueLog()
    // The folder that it was taken in may have been moved away.
    if let lock, lock.isHeld(in: directory) { return }
    lock = try VaultLock(
      in: directory, path: location.directory + "/" + VaultLocation.lockName, socketPath: socketPath)
    // From an agent that was killed. Where they cannot be removed, that is said by the change that needs them gone.
    try? removeStrays(in: directory)
  }
}
