import Glibc
import Sealing

/// The file that opens slot 1 without a person: one line `oauthctl-key-1 KEY CHECK`, KEY 32 bytes in base64url, CHECK
/// the first 8 hex digits of the SHA-256 of what stands before it.
enum KeyFile {
  private static let label = "oauthctl-key-1"
  /// The line has less than 100 bytes.
  private static let limit = 4_096

  /// The key at `path`; nil when there is no such file. Throws `unsafePermissions`, `damaged`, `storageFailed`.
  static func read(_ path: String) throws(VaultError) -> SealingKey? {
    guard let directory = try PrivateDirectory.open(PrivateDirectory.parent(of: path), isSecret: false) else {
      return nil
    }
    return try read(in: directory, path)
  }

  /// Whether there is one at `path`, or one that waits to take its place; nothing is said of what it opens.
  static func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 || access(next(path), F_OK) == 0 }

  /// The key at `path`, made first where there is none. Durable when it returns. A key that is there is never replaced:
  /// it may open a vault that comes back from a backup.
  static func readOrCreate(_ path: String, random: any RandomSource) throws(VaultError) -> SealingKey {
    let directory = try PrivateDirectory.make(PrivateDirectory.parent(of: path), isSecret: false)
    if let key = try read(in: directory, path) { return key }
    let key = try sealing { () throws(SealingError) in try SealingKey(random: random) }
    var line = encode(key)
    defer { line.wipe() }
    try PrivateFile.create(in: directory, PrivateDirectory.name(of: path), path, line)
    return key
  }

  // A rekey replaces the database and the key file, which no rename does together. The new key waits beside the old one
  // under its own name, durable before the database that needs it.

  /// The key that waits to take the place of the one at `path`; nil when there is none.
  static func readNext(_ path: String) throws(VaultError) -> SealingKey? { try read(next(path)) }

  /// A fresh key that waits, in place of one that nobody needs any more. Durable when it returns.
  static func createNext(_ path: String, random: any RandomSource) throws(VaultError) -> SealingKey {
    try removeNext(path)
    return try readOrCreate(next(path), random: random)
  }

  /// Throws where something else than a key file is in the way, which no rename replaces.
  static func checkReplaceable(_ path: String) throws(VaultError) {
    do throws(VaultError) { _ = try read(path) } catch {
      guard case .damaged = error else { throw error }
    }
  }

  /// The waiting key takes the place of the one at `path`, durably.
  static func promoteNext(_ path: String) throws(VaultError) {
    guard let directory = try PrivateDirectory.open(PrivateDirectory.parent(of: path), isSecret: false) else {
      throw .storageFailed("the folder of \(path) vanished")
    }
    let name = PrivateDirectory.name(of: path)
    guard renameat(directory.number, PrivateDirectory.name(of: next(path)), directory.number, name) == 0 else {
      throw .system("rename to", path)
    }
    guard fsync(directory.number) == 0 else { throw .system("fsync the folder of", path) }
  }

  static func removeNext(_ path: String) throws(VaultError) { try remove(next(path)) }

  /// Overwrites the file and removes it, durably. None there is no error. Flash and copying file systems may keep the old
  /// blocks.
  ///
  /// `flushesAnyway`: also where it is gone, since whoever removed it before may have come no further.
  static func remove(_ path: String, flushesAnyway: Bool = false) throws(VaultError) {
    guard let directory = try PrivateDirectory.open(PrivateDirectory.parent(of: path), isSecret: false) else { return }
    let name = PrivateDirectory.name(of: path)
    if let file = try PrivateFile.open(in: directory, name, path, flags: O_WRONLY) {
      let count = Int(file.status()?.st_size ?? 0)
      guard file.write([UInt8](repeating: 0, count: min(count, limit)), at: 0), fsync(file.number) == 0 else {
        throw .system("overwrite", path)
      }
      guard unlinkat(directory.number, name, 0) == 0 else { throw .system("unlink", path) }
    } else if !flushesAnyway {
      return
    }
    guard fsync(directory.number) == 0 else { throw .system("fsync the folder of", path) }
  }

  /// Gives the file at `path`, where it is not as it was written, a name that nobody reads: `vault.key.damaged`, or one with a
  /// number. A person may mend it.
  static func putAsideIfDamaged(_ path: String) throws(VaultError) {
    do throws(VaultError) { _ = try read(path) } catch {
      guard case .damaged(.keyFile, _) = error else { throw error }
      try putAside(path)
    }
  }

  /// The same for one that `opens` says no to: nobody knows who has it.
  static func putAside(_ path: String, unless opens: (SealingKey) -> Bool) throws(VaultError) {
    try putAsideIfDamaged(path)
    guard let key = try read(path), !opens(key) else { return }
    try putAside(path)
  }

  private static func putAside(_ path: String) throws(VaultError) {
    let folder = PrivateDirectory.parent(of: path)
    guard let directory = try PrivateDirectory.open(folder, isSecret: false) else { return }
    let taken = Set(try PrivateDirectory.names(in: directory, folder))
    let name = PrivateDirectory.name(of: path)
    var (aside, number) = (name + ".damaged", 1)
    while taken.contains(aside) {
      number += 1
      aside = "\(name).damaged.\(number)"
    }
    guard renameat(directory.number, name, directory.number, aside) == 0 else { throw .system("rename", path) }
    guard directory.flush() else { throw .system("fsync the folder of", path) }
  }

  /// Removes those that were set aside, as ``remove(_:flushesAnyway:)``: one that opened this vault once opens it again with a
  /// slot out of an old copy.
  static func removeAside(_ path: String) throws(VaultError) {
    let folder = PrivateDirectory.parent(of: path)
    guard let directory = try PrivateDirectory.open(folder, isSecret: false) else { return }
    let first = PrivateDirectory.name(of: path) + ".damaged"
    for name in try PrivateDirectory.names(in: directory, folder) {
      let isNumbered = name.hasPrefix(first + ".") && UInt(name.dropFirst(first.count + 1)) != nil
      if name == first || isNumbered { try remove(folder + "/" + name) }
    }
  }

  private static func next(_ path: String) -> String { path + ".next" }

  private static func read(in directory: borrowing FileDescriptor, _ path: String) throws(VaultError) -> SealingKey? {
    let name = PrivateDirectory.name(of: path)
    guard let file = try PrivateFile.open(in: directory, name, path, flags: O_RDONLY) else { return nil }
    var bytes = file.readAll(limit: limit) ?? []
    defer { bytes.wipe() }
    // One that is longer than any was not written by us either.
    guard !bytes.isEmpty || errno == EFBIG || file.status()?.st_size == 0 else { throw .system("read", path) }
    guard let key = decode(bytes) else { throw .damaged(.keyFile(path: path), what: "key file \(path)") }
    return key
  }

  private static func encode(_ key: SealingKey) -> [UInt8] {
    let text = "\(label) \(key.withBytes { Base64URL.encode($0) })"
    return Array("\(text) \(check(text))\n".utf8)
  }

  private static func decode(_ bytes: [UInt8]) -> SealingKey? {
    guard bytes.last == UInt8(ascii: "\n") else { return nil }
    let parts = bytes.dropLast().split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    guard parts.count == 3, parts[0] == label, check("\(parts[0]) \(parts[1])") == parts[2],
      var key = Base64URL.decode(parts[1])
    else { return nil }
    defer { key.wipe() }
    return try? SealingKey(SecretBytes(copying: key))
  }

  private static func check(_ text: String) -> String { Hex.encode(Digest.sha256(text.utf8).prefix(4)) }
}
