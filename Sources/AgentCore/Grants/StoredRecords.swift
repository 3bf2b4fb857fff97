import JSONCoding
import Sealing
import TokenVault

/// The records that a vault gave, read.
struct StoredRecords: Sendable {
  /// In the order in which they were written.
  private(set) var accounts: [(stored: VaultRecord, record: AccountRecord)] = []
  /// Sealed with the vault's key and still not readable: a later version wrote them, or nobody's. They are left alone.
  private(set) var later: [RecordID] = []

  /// Away from the caller's actor: ten thousand records take a while.
  static func read(_ records: [VaultRecord]) async -> StoredRecords {
    var read = StoredRecords()
    for stored in records.sorted(by: { $0.commit < $1.commit }) {
      if let record = record(stored) { read.accounts.append((stored, record)) } else { read.later.append(stored.id) }
    }
    return read
  }

  private static func record(_ stored: VaultRecord) -> AccountRecord? {
    let record = stored.payload.withBytes { ShapeDecoder.read(AccountRecord.self, Array($0)) }
    return record.flatMap { $0.format <= AccountRecord.format && $0.isInBounds ? $0 : nil }
  }
}
