import Glibc

/// The user's wish that the vault stay locked: an empty file in its folder, so that it outlives restarts and kills.
enum Hold {
  private static func path(_ location: VaultLocation) -> String { location.directory + "/" + VaultLocation.holdName }

  static func isSet(in directory: borrowing FileDescriptor, _ location: VaultLocation) throws(VaultError) -> Bool {
    try PrivateFile.status(in: directory, VaultLocation.holdName, path(location)) != nil
  }

  /// Durable when it returns.
  static func set(in directory: borrowing FileDescriptor, _ location: VaultLocation) throws(VaultError) {
    if try isSet(in: directory, location) { return }
    try PrivateFile.create(in: directory, VaultLocation.holdName, path(location), [])
  }

  /// Durable when it returns.
  static func clear(in directory: borrowing FileDescriptor, _ location: VaultLocation) throws(VaultError) {
    guard unlinkat(directory.number, VaultLocation.holdName, 0) == 0 else {
      if errno == ENOENT { return }
      throw .system("unlink", path(location))
    }
    guard fsync(directory.number) == 0 else { throw .system("fsync", location.directory) }
  }
}
