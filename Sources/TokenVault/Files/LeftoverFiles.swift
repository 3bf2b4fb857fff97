import CLinux
import Glibc
import Sealing

/// What a step that failed or was killed can leave: sealed copies that open by what opened the vault then, and files that
/// were half-written. Every name is reserved (docs/vault-format.md); what is no plain file of ours is left alone.
enum LeftoverFiles {
  /// In the vault's folder. `isChecking`: a copy of a backup is being checked just now. What `oauthctl` has given for a check
  /// goes even if it is held: whoever holds it may be stopped for as long as he likes, and the copy may open by what does not
  /// open the vault any more. A check that has begun has a copy of its own; one that has not fails.
  static func removeCopies(
    in directory: borrowing FileDescriptor, _ path: String, isChecking: Bool
  ) throws(VaultError) {
    var databases = [VaultLocation.backupName, VaultLocation.draftName]
    if !isChecking { databases.append(VaultLocation.checkName) }
    let names = databases.flatMap { name in ["", "-wal", "-journal", "-shm"].map { name + $0 } }
    let drafts = [
      VaultLocation.databaseName + "-wal", VaultLocation.holdName, VaultLocation.untoldCodeName,
      VaultLocation.purgeDueName,
    ]
    .map { $0 + ".new" }
    try remove(Set(names + drafts), in: directory, path)
    let named = try PrivateDirectory.names(in: directory, path).filter { isBackup($0) || isGiven($0) }
    try remove(named, in: directory, path)
  }

  /// What `oauthctl` gave for a check and does not hold any more.
  static func removeGiven(in directory: borrowing FileDescriptor, _ path: String) throws(VaultError) {
    var left: [String] = []
    for name in try PrivateDirectory.names(in: directory, path) where isGiven(name) {
      if !isHeld(name, in: directory) { left.append(name) }
    }
    try remove(left, in: directory, path)
  }

  /// Whether this is what `Vault.backup` calls one.
  static func isBackup(_ name: String) -> Bool {
    let prefix = VaultLocation.backupName + "."
    return name.hasPrefix(prefix) && Hex.decode(String(name.dropFirst(prefix.count)))?.count == 8
  }

  /// Gives a damaged database, and what belongs to it, names that nobody reads: `vault.db.damaged`, or one with a number.
  static func setAside(in directory: borrowing FileDescriptor, _ path: String) throws(VaultError) {
    let taken = Set(try PrivateDirectory.names(in: directory, path))
    let name = VaultLocation.databaseName
    var (aside, number) = (name + ".damaged", 1)
    while ["", "-wal", "-journal", "-shm"].contains(where: { taken.contains(aside + $0) }) {
      number += 1
      aside = "\(name).damaged.\(number)"
    }
    // The database first: a kill after it leaves a log alone, which nobody takes for a vault.
    for end in ["", "-wal", "-journal", "-shm"] where taken.contains(name + end) {
      guard renameat(directory.number, name + end, directory.number, aside + end) == 0 else {
        throw .system("rename", path + "/" + name + end)
      }
    }
    guard directory.flush() else { throw .system("fsync", path) }
  }

  /// Beside the key file and the counter: drafts of them that got no name.
  static func removeDrafts(of files: [String]) throws(VaultError) {
    for file in files {
      let folder = PrivateDirectory.parent(of: file)
      guard let directory = try PrivateDirectory.open(folder, isSecret: false) else { continue }
      try remove([PrivateDirectory.name(of: file) + ".new"], in: directory, folder)
    }
  }

  /// `vault.given.PID`, or the draft of one: what `oauthctl` gives the agent to check.
  static func isGiven(_ name: String) -> Bool {
    guard name.hasPrefix(VaultLocation.givenPrefix),
      let process = pid_t(name.dropFirst(VaultLocation.givenPrefix.count).prefix { $0 != "." })
    else { return false }
    return process > 0
  }

  /// Whether somebody is at work on it, by his lock, which the kernel takes away however he ends. The number in the name
  /// does not tell: it is given out again.
  private static func isHeld(_ name: String, in directory: borrowing FileDescriptor) -> Bool {
    // A pipe of that name would be waited for.
    let number = openat(directory.number, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard number >= 0 else { return false }
    let descriptor = FileDescriptor(number)
    return clinux_is_locked(descriptor.number) == 1
  }

  private static func remove(
    _ names: some Sequence<String>, in directory: borrowing FileDescriptor, _ path: String
  ) throws(VaultError) {
    var isChanged = false
    for name in names {
      var status = stat()
      guard fstatat(directory.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
        if errno == ENOENT { continue }
        throw .system("stat", path + "/" + name)
      }
      guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else { continue }
      guard unlinkat(directory.number, name, 0) == 0 || errno == ENOENT else {
        throw .system("unlink", path + "/" + name)
      }
      isChanged = true
    }
    guard !isChanged || directory.flush() else { throw .system("fsync", path) }
  }
}

extension Vault {
  /// The caller holds the lock.
  func removeStrays(in directory: borrowing FileDescriptor) throws(VaultError) {
    try LeftoverFiles.removeCopies(in: directory, location.directory, isChecking: isChecking)
    try LeftoverFiles.removeDrafts(of: [location.keyFile, location.keyFile + ".next", location.counterFile])
  }

  /// Whoever gave a copy for a check may have been killed meanwhile.
  func removeGiven() {
    do throws(VaultError) {
      guard let directory = try vaultDirectory() else { return }
      try LeftoverFiles.removeGiven(in: directory, location.directory)
    } catch {}  // The next step that removes strays says why it cannot.
  }

  func removeStrays() {
    guard lock != nil else { return }
    do throws(VaultError) {
      guard let directory = try vaultDirectory() else { return }
      try removeStrays(in: directory)
    } catch {}  // The next step that removes them says why it cannot.
  }
}
