import Glibc

/// What tells of a vault where there is no database: then it is gone, and was not never made. A vault that is gone is
/// awaited, since it may come back (a folder moved by mistake, a disk not mounted yet); one made in its place would take
/// its commit counter, and open by a key file though the user had removed that.
struct VaultTraces: Equatable {
  /// This process has opened it.
  var wasOpen = false
  /// The commit counter, written as soon as there is a vault.
  var hasCounter = false
  /// The user's wish that it stay locked.
  var isHeld = false
  /// It is made before the database, and after the lock file: alone it tells of no vault that was ever whole.
  var hasKeyFile = false
  var hasLockFile = false

  var tellOfAVault: Bool { wasOpen || hasCounter || isHeld || (hasKeyFile && !hasLockFile) }
}

extension Vault {
  /// Throws `gone` unless no vault was ever made. The caller has seen that there is no database.
  func checkNeverMade() throws(VaultError) {
    guard !traces.tellOfAVault else { throw location.gone }
  }

  private var traces: VaultTraces {
    func isThere(_ path: String) -> Bool {
      var status = stat()
      return lstat(path, &status) == 0
    }
    return VaultTraces(
      wasOpen: vaultID != nil, hasCounter: isThere(location.counterFile),
      isHeld: isThere(location.directory + "/" + VaultLocation.holdName), hasKeyFile: KeyFile.isThere(location.keyFile),
      hasLockFile: isThere(location.directory + "/" + VaultLocation.lockName))
  }

  /// Lets go of a vault that is gone, on the user's word: another was made in its place, in `directory`. A key file
  /// stays, and opens the new one too; if the old one comes back, it is reported as older than this machine remembers.
  ///
  /// What cannot be removed is no reason to keep the old one's keys: a wish to be locked holds for the new one then, and
  /// a counter that is not its own is written over when it is opened.
  func forgetGone(for directory: borrowing FileDescriptor) {
    try? FlagFile.hold.clear(in: directory, location)
    try? CommitCounter.remove(location.counterFile)
    forget()
    stranded?.connection.close()
    stranded = nil
    vaultID = nil
    rollback = nil
    (spilled, spilledToMemory, unkept) = ([], [], [])
    handedOut = [:]
    isHeld = false
    lastFailure = nil
  }
}
