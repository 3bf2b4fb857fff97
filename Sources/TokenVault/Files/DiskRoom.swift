import Glibc

/// Room for what comes once something has been sent. A disk with room for no more than the intent would take the refresh token
/// that was used up by it, and not the one that the server gives for it.
enum DiskRoom {
  /// Bytes that have to be free: room for the answers of many accounts at once. What is under way already is not counted.
  static let wanted: UInt = 4 << 20

  /// - Throws: `noRoom` where the file system of `folder` has less than ``wanted`` left, or, where it is small, less than an eighth of it.
  static func check(_ folder: String) throws(VaultError) {
    var found = statvfs()
    guard statvfs(folder, &found) == 0,
      let shortage = shortage(
        free: UInt(found.f_bavail), blocks: UInt(found.f_blocks), blockSize: UInt(found.f_frsize))
    else { return }
    throw .noRoom(folder: folder, shortage)
  }

  /// What is told where too few of `blocks` are free; nil: there is room, or the file system does not count them.
  static func shortage(free: UInt, blocks: UInt, blockSize: UInt) -> String? {
    guard blocks > 0, blockSize > 0 else { return nil }
    let least = min(wanted / blockSize + (wanted % blockSize == 0 ? 0 : 1), blocks / 8)
    guard free < least else { return nil }
    return
      "the disk of vault.db is almost full: \(free * blockSize >> 10) KiB are free, and a server's answer may need "
      + "\(least * blockSize >> 10) KiB, so nothing is sent"
  }
}
