import Synchronization
package import TokenVault

/// A store in memory that can fail at each step, and counts the steps.
package final class MemoryStore: RecordStore {
  private struct State {
    var records: [RecordID: VaultRecord] = [:]
    var puts = 0
    var failures: [Int: VaultError] = [:]
    var history: [VaultRecord] = []
  }

  private let state = Mutex(State())

  package init() {}

  /// The `n`th put from now on, counted from 1, fails.
  package func fail(put n: Int, with error: VaultError = .storageFailed("no space left")) {
    state.withLock { $0.failures[$0.puts + n] = error }
  }

  package var puts: Int { state.withLock { $0.puts } }
  /// Every record that was made durable, in order.
  package var history: [VaultRecord] { state.withLock { $0.history } }

  package func loadAll() async throws(VaultError) -> [VaultRecord] {
    state.withLock { $0.records.values.sorted { $0.id.description < $1.id.description } }
  }

  package func put(_ record: VaultRecord) async throws(VaultError) {
    let failure: VaultError? = state.withLock { state in
      state.puts += 1
      if let failure = state.failures.removeValue(forKey: state.puts) { return failure }
      if let stored = state.records[record.id], stored.version >= record.version {
        return .staleVersion(stored: stored.version)
      }
      state.records[record.id] = record
      state.history.append(record)
      return nil
    }
    if let failure { throw failure }
  }

  package func delete(_ id: RecordID) async throws(VaultError) {
    state.withLock { $0.records[id] = nil }
  }
}
