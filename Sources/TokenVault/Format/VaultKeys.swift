import Sealing

/// The data key and the keys derived from it, one for each use, all in guarded memory: the derived ones in one place.
struct VaultKeys {
  /// What the slots wrap.
  let data: SealingKey
  let records: SealingKey
  let catalogue: SealingKey
  let rowNames: SealingKey
  let counter: SealingKey
  let slots: SealingKey

  init(data: SealingKey) throws(SealingError) {
    self.data = data
    let derived = try data.derived([1, 2, 3, 4, 5], for: "oauthctl")
    (records, catalogue, rowNames, counter, slots) = (derived[0], derived[1], derived[2], derived[3], derived[4])
  }

  /// Whether the kernel locked the pages of every one of them.
  var areLocked: Bool {
    [data, records, catalogue, rowNames, counter, slots].allSatisfy { $0.isLocked }
  }

  /// The key under which a record's row is found; says nothing about its id.
  func rowName(of id: RecordID) throws(SealingError) -> [UInt8] {
    try KeyedHash.blake2b(id.bytes, key: rowNames)
  }
}

extension SealingError {
  /// This error where nothing was being opened: a matter of the machine.
  var vaultError: VaultError {
    switch self {
    case .libraryUnusable: .storageFailed("libsodium could not start")
    case .outOfMemory: .storageFailed("no memory for keys")
    case .notAuthentic: .damaged(what: "a seal")
    case .outOfRange(let what): .storageFailed("out of range: \(what)")
    }
  }

  /// This error while `what` was being opened.
  func opening(_ what: String, part: DamagedPart = .contents) -> VaultError {
    self == .notAuthentic ? .damaged(part, what: what) : vaultError
  }
}

/// Runs `body`, giving its sealing failures as the vault's.
func sealing<Result>(_ body: () throws(SealingError) -> Result) throws(VaultError) -> Result {
  do throws(SealingError) { return try body() } catch { throw error.vaultError }
}
