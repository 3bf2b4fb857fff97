import Glibc
import Sealing

/// The number of the last commit, kept outside of the vault's folder, so that a vault put back from a backup is noticed.
///
/// Two places of 64 bytes take turns (commit modulo 2), so a torn write spoils one and leaves the one before: vault id
/// (16) ‖ commit (8) ‖ zeros (8) ‖ keyed BLAKE2b of those 32 bytes (32).
struct CommitCounter {
  let path: String
  let vaultID: [UInt8]
  let key: SealingKey

  /// Bytes of a place: what is signed, and the MAC.
  private static let placeCount = 64
  /// Bytes that the MAC covers: vault id, commit, zeros.
  private static let signedCount = 32

  /// The same file, for a vault with another data key.
  func under(_ key: SealingKey) -> CommitCounter { CommitCounter(path: path, vaultID: vaultID, key: key) }

  /// What the file says.
  enum Reading: Equatable {
    /// With `besideOther` one place holds what does not fit this key: torn, or from before a rekey.
    case commit(UInt64, besideOther: Bool = false)
    /// No file: never written, or cleaned away with other state.
    case missing
    /// There is a file, but nothing in it is this vault's.
    case foreign
    /// This vault's, under another data key: the vault was given a new key since, and this is an older one.
    case otherKey
  }

  func read() throws(VaultError) -> Reading {
    guard let bytes = try bytes() else { return .missing }
    let commits = try commits(in: bytes)
    if let last = commits.compactMap({ $0 }).max() {
      let other = commits.firstIndex { $0 == nil }
      return .commit(last, besideOther: other.map { place(number: $0, of: bytes).contains { $0 != 0 } } ?? false)
    }
    let isOurs =
      bytes.count == CommitCounter.placeCount * 2
      && [0, CommitCounter.placeCount].allSatisfy { bytes[$0...].starts(with: vaultID) }
    return isOurs ? .otherKey : .foreign
  }

  /// Durable when it returns.
  func write(_ commit: UInt64) throws(VaultError) { try write(commit, place: Int(commit % 2)) }

  /// Writes into the place that does not fit this key, and so leaves the one that does. Durable when it returns.
  func replaceOther(by commit: UInt64) throws(VaultError) {
    guard let bytes = try bytes(), let other = try commits(in: bytes).firstIndex(of: nil) else { return }
    try write(commit, place: other)
  }

  private func write(_ commit: UInt64, place number: Int) throws(VaultError) {
    let directory = try PrivateDirectory.make(PrivateDirectory.parent(of: path), isSecret: false)
    let name = PrivateDirectory.name(of: path)
    let place = try place(for: commit)
    if let descriptor = try PrivateFile.open(in: directory, name, path, flags: O_WRONLY) {
      guard descriptor.write(place, at: number * CommitCounter.placeCount) else {
        throw .system("write", path)
      }
      guard fdatasync(descriptor.number) == 0 else { throw .system("fsync", path) }
    } else {
      let empty = [UInt8](repeating: 0, count: CommitCounter.placeCount)
      try PrivateFile.create(in: directory, name, path, number == 0 ? place + empty : empty + place)
    }
  }

  /// Removes the file at `path`, durably. None there is no error.
  static func remove(_ path: String) throws(VaultError) {
    guard let directory = try PrivateDirectory.open(PrivateDirectory.parent(of: path), isSecret: false) else { return }
    guard unlinkat(directory.number, PrivateDirectory.name(of: path), 0) == 0 else {
      if errno == ENOENT { return }
      throw .system("unlink", path)
    }
    guard directory.flush() else { throw .system("fsync the folder of", path) }
  }

  /// The whole file; nil where there is none.
  private func bytes() throws(VaultError) -> [UInt8]? {
    guard let directory = try PrivateDirectory.open(PrivateDirectory.parent(of: path), isSecret: false) else {
      return nil
    }
    return try PrivateFile.read(
      in: directory, PrivateDirectory.name(of: path), path, limit: CommitCounter.placeCount * 2)
  }

  /// Of each of the two places; nil where it does not fit.
  private func commits(in bytes: [UInt8]) throws(VaultError) -> [UInt64?] {
    [try commit(in: place(number: 0, of: bytes)), try commit(in: place(number: 1, of: bytes))]
  }

  private func place(number: Int, of bytes: [UInt8]) -> ArraySlice<UInt8> {
    bytes.dropFirst(number * CommitCounter.placeCount).prefix(CommitCounter.placeCount)
  }

  private func place(for commit: UInt64) throws(VaultError) -> [UInt8] {
    var writer = ByteWriter()
    writer.raw(vaultID)
    writer.integer(commit)
    writer.pad(to: CommitCounter.signedCount)
    let signed = writer.bytes
    return signed + (try sealing { () throws(SealingError) in try KeyedHash.blake2b(signed, key: key) })
  }

  private func commit(in place: ArraySlice<UInt8>) throws(VaultError) -> UInt64? {
    guard place.count == CommitCounter.placeCount else { return nil }
    let commit = place.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      _ = reader.raw(vaultID.count)
      return reader.integer(UInt64.self)
    }
    guard let commit, commit <= Catalogue.greatestNumber, constantTimeEquals(try self.place(for: commit), place) else {
      return nil
    }
    return commit
  }
}
