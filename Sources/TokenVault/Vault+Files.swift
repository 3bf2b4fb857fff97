import SystemFacts

/// What becomes of the files of the open vault, whatever others do to them.
extension Vault {
  /// Sees to it that what is written next is not lost: opens the files again where another program has changed one in place,
  /// and puts the log back where it was taken away. Also in a vault that is being locked, where the last answers are still to
  /// be written.
  ///
  /// Throws where the vault does not open again as it was. Where the log cannot be put back, or others may read a file, the
  /// vault stays open, and writes nothing: its connection has all that is left of the log.
  func judgeFiles() throws(VaultError) {
    guard let session else { return }
    let database = session.database
    do throws(VaultError) { try database.checkStillThere() } catch { throw forget(after: error) }
    filesProblem = nil
    let hasLostLog = database.hasLostLog, isContentAsWritten = database.isContentAsWritten
    guard hasLostLog || !database.isAsWritten, let directory = try vaultDirectory() else { return }
    do throws(VaultError) {
      // What would not be opened again is not closed, and nothing is written to it.
      _ = try VaultDatabase.isPresent(in: directory, path: database.path)
      if hasLostLog { try database.restoreLog(in: directory) }
    } catch {
      filesProblem = unwritten(error)
      throw error
    }
    remember()
    try? database.allowCheckpoints(false)
    database.connection.close()
    self.session = nil
    do throws(VaultError) {
      _ = try openSession(in: directory, keysFrom: keysFromKeyFile)
    } catch {
      var failure = error
      // Whoever wrote a backup into the file has removed the log for it.
      if hasLostLog, !isContentAsWritten, case .damaged(.contents, _) = error {
        do throws(VaultError) {
          try database.removeLog(in: directory)
          failure = database.replaced
        } catch { failure = error }
      }
      lastFailure = failure
      throw failure
    }
  }

  /// Keeps what the vault is known to be, before its files are closed.
  private func remember() {
    guard let session else { return }
    last = VaultContents(session, rollback)
    guard let keys, session.slots.allSatisfy({ session.isIntact($0, keys: keys) }) else { return }
    known = (session.catalogue, session.slots)
  }

  /// Writes the slots anew that the catalogue is about, where older ones of a backup lie in the vault that was just opened: what a
  /// person has set last is to open it.
  func putSlotsBack() throws(VaultError) {
    guard let session, let keys, let known, known.catalogue == session.catalogue else { return }
    let (catalogue, found) = (session.catalogue, session.slots)
    let right = found.filter { catalogue.isIntact($0, keys: keys) }
    let lost = known.slots.filter { slot in !right.contains { $0.number == slot.number } }
    let foreign = found.map(\.number).filter { catalogue.slots[$0] == nil }
    for change in lost.map(VaultDatabase.Change.slot) + foreign.map(VaultDatabase.Change.removeSlot) {
      guard var catalogue = self.session?.catalogue else { return }
      catalogue.commit = nextCommit(after: catalogue)
      try commit(change, catalogue)
      self.known?.catalogue = catalogue
    }
    self.session?.slots = (right + lost).sorted { $0.number < $1.number }
  }

  /// Whether what was set last to open the vault is kept by this process alone: older slots lie beside the catalogue of now.
  var lacksSlotsOfNow: Bool {
    guard session == nil, let known, let keys, let directory = try? vaultDirectory(),
      let database = try? VaultDatabase.open(in: directory, path: location.databaseFile),
      let slots = try? database.slots(), let sealed = try? database.sealedCatalogue(),
      let catalogue = try? Catalogue(opening: sealed, vaultID: database.vaultID, keys: keys)
    else { return false }
    return catalogue == known.catalogue && !known.slots.allSatisfy(slots.contains)
  }

  /// Closes the database after a write that failed. Returns the failure.
  func forget(after failure: VaultError) -> VaultError {
    logIsSuspect = true
    forget()
    lastFailure = failure
    return failure
  }

  /// Closes the database at once, also where a caller still has the session: it would keep the next opening out.
  func forget() {
    guard let database = session?.database else { return }
    remember()
    session = nil
    // Folding the only copy of a log would leave half a database where the disk is full; over what another program has written,
    // it would spoil that.
    if database.hasLostLog || !database.isAsWritten { logIsSuspect = true }
    if logIsSuspect { try? database.allowCheckpoints(false) }
    guard database.hasLostLog else { return database.connection.close() }
    stranded = database
    try? rescueLog()
  }

  /// Puts back the log of a database that was forgotten without it. Throws where that still fails: nothing is opened before.
  func rescueLog() throws(VaultError) {
    guard let database = stranded, let directory = try vaultDirectory() else { return }
    // Where another database is in its place, or has been written into it, it is this one's log no more.
    if (try? database.checkStillThere()) != nil, database.isContentAsWritten {
      do throws(VaultError) { try database.restoreLog(in: directory) } catch {
        filesProblem = unwritten(error)
        throw error
      }
    }
    filesProblem = nil
    database.connection.close()
    stranded = nil
  }

  /// Whether the log that was taken away could not be put back so far: what it holds ends with this process. Where the database
  /// is gone as well, both may have been moved.
  var hasLostLog: Bool {
    guard let database = stranded ?? session?.database, database.hasLostLog else { return false }
    return (try? database.checkStillThere()) != nil
  }

  private func unwritten(_ failure: VaultError) -> String {
    "nothing can be written to the vault: \(failure.reason(location.directory))"
  }
}
