import Glibc

/// What is to be known of the vault over restarts and kills, and stands not in it: an empty file in its folder.
struct FlagFile {
  /// The user's wish that the vault stay locked.
  static let hold = FlagFile(name: VaultLocation.holdName)
  /// A recovery code counts that was perhaps handed to nobody.
  static let untoldCode = FlagFile(name: VaultLocation.untoldCodeName)

  /// What a change of the slots replaced may still be in the vault's files.
  static let purgeDue = FlagFile(name: VaultLocation.purgeDueName)

  let name: String

  private func path(_ location: VaultLocation) -> String { location.directory + "/" + name }

  func isSet(in directory: borrowing FileDescriptor, _ location: VaultLocation) throws(VaultError) -> Bool {
    try PrivateFile.status(in: directory, name, path(location)) != nil
  }

  /// Durable when it returns.
  func set(in directory: borrowing FileDescriptor, _ location: VaultLocation) throws(VaultError) {
    if try isSet(in: directory, location) { return }
    try PrivateFile.create(in: directory, name, path(location), [])
  }

  /// Durable when it returns, unless `isHint`: then a power cut may bring it back.
  func clear(
    in directory: borrowing FileDescriptor, _ location: VaultLocation, isHint: Bool = false
  ) throws(VaultError) {
    guard unlinkat(directory.number, name, 0) == 0 else {
      if errno == ENOENT { return }
      throw .system("unlink", path(location))
    }
    guard isHint || fsync(directory.number) == 0 else { throw .system("fsync", location.directory) }
  }
}
