package import Sealing

/// Names one record for ever: 16 random bytes.
package struct RecordID: Hashable, Sendable, CustomStringConvertible {
  /// Random bytes: no two records of a vault ever share an id.
  package static let byteCount = 16

  /// Exactly 16 bytes.
  package let bytes: [UInt8]

  /// A fresh id.
  package init(random: any RandomSource) {
    var bytes = random.bytes(RecordID.byteCount)
    // A source that gives less is a test's; the id keeps its length.
    while bytes.count < RecordID.byteCount { bytes.append(0) }
    self.bytes = Array(bytes.prefix(RecordID.byteCount))
  }

  /// Nil unless there are exactly 16 bytes.
  package init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == RecordID.byteCount else { return nil }
    self.bytes = Array(bytes)
  }

  /// 32 lower-case hex digits.
  package var description: String { Hex.encode(bytes) }
}

/// One record. What the payload means is its owner's business.
package struct VaultRecord: Sendable {
  /// Payloads are 1 MiB at most.
  package static let maximumPayloadCount = 1_048_576

  package var id: RecordID
  /// Set by the caller; every `put` of an id must have a greater one than the put before.
  package var version: UInt64
  package var payload: Secret
  /// How many stores its writer had taken in the place of others when it made this: it does not go into a later one. Nil: it
  /// goes into whichever is there.
  package var replacements: UInt64?
  /// Whether something is sent once it is durable, whose answer must find room, too.
  package var awaitsAnswer = false
  /// Set by a store that numbers its writes: which one wrote it.
  package internal(set) var commit: UInt64 = 0

  package init(id: RecordID, version: UInt64, payload: Secret) {
    self.id = id
    self.version = version
    self.payload = payload
  }
}

/// The store seam. Payloads are opaque to the store.
package protocol RecordStore: Sendable {
  /// Opens the store, creating nothing, and returns every record, in the order of their ids. No store yet: no records.
  func loadAll() async throws(VaultError) -> [VaultRecord]

  /// Durable when it returns: the record and the catalogue in one transaction. Creates the store first if there is none.
  ///
  /// After `storageFailed` the record may or may not be there: the next put needs a greater version again.
  ///
  /// - Returns: the number of the commit that wrote it; 0 from a store that numbers none.
  @discardableResult
  func put(_ record: VaultRecord) async throws(VaultError) -> UInt64

  /// Durable when it returns. An id that is not there is no error.
  func delete(_ id: RecordID) async throws(VaultError)

  /// Keeps a record aside that `put` could not make durable and that nobody could give again; `loadAll` gives it back, and
  /// a later `put` takes its place.
  func spill(_ record: VaultRecord) async throws(VaultError)

  /// Where to leave what comes for a record after the store is locked; nil while it is locked or was never opened. It holds
  /// no secret key, so it is asked for before the lock and kept over it.
  var lateAnswerStore: (any LateAnswerStore)? { get async }

  /// What was left there, oldest first. Opens the store. A late answer that does not open is no error; it is left out.
  func lateAnswers() async throws(VaultError) -> [(record: RecordID, payload: Secret)]

  /// Removes those late answers of a record that `lateAnswers` has given, durably. To be called when what they say is durable.
  func removeLateAnswers(of record: RecordID) async throws(VaultError)

  /// Set where what `loadAll` gave is older than what this machine has stored before, until that is accepted: the
  /// commit that was expected. Refresh tokens from before may have been rotated since: using one could make the
  /// server revoke the whole grant. It stays the same over restarts, and is greater for each later rollback.
  var rolledBackFrom: UInt64? { get async }

  /// The number of the last commit that this machine remembers; 0: none is numbered.
  var lastCommit: UInt64 { get async }

  /// Set where another store lies in the place of the one that was read and written: writes throw `replaced` until
  /// `replacementIsTaken`, and go into the other one afterwards.
  func replacement() async throws(VaultError) -> VaultReplacement?

  /// Whoever writes knows what `replacement` has given, and has taken in `count` of them by now. A record that it made before is
  /// refused with `replaced`.
  func replacementIsTaken(_ count: UInt64) async
}

extension RecordStore {
  package var rolledBackFrom: UInt64? { get async { nil } }
  package var lastCommit: UInt64 { get async { 0 } }
  package func replacement() async throws(VaultError) -> VaultReplacement? { nil }
  package func replacementIsTaken(_ count: UInt64) async {}
}
