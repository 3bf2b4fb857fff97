package import Sealing
import Synchronization
package import TokenVault

/// A store in memory that can fail at each step, and counts the steps.
package final class MemoryStore: RecordStore {
  private struct State {
    var records: [RecordID: VaultRecord] = [:]
    var puts = 0
    var failures: [Int: VaultError] = [:]
    var loadFailures: [VaultError] = []
    var history: [VaultRecord] = []
    var spilled: [RecordID: VaultRecord] = [:]
    var loads = 0
    var loading = 0
    var mostLoading = 0
    var beforePut: (@Sendable () -> Void)?
    var rolledBackFrom: UInt64?
    var lateAnswers: [(number: Int, record: RecordID, payload: Secret)] = []
    var lastLateAnswer = 0
    /// The last late answer that `lateAnswers` has given.
    var lastRead = 0
    var isMade = false
    var takesNoSpill = false
    var gonePut: Int?
  }

  private let state = Mutex(State())

  /// Holds what `steps` left on disk, each record as last written.
  package init(_ steps: [VaultRecord] = [], rolledBackFrom: UInt64? = nil) {
    state.withLock { state in
      for record in steps { state.records[record.id] = record }
      state.isMade = !steps.isEmpty
      state.rolledBackFrom = rolledBackFrom
    }
  }

  /// The `n`th put from now on, counted from 1, fails.
  package func fail(put n: Int, with error: VaultError = .storageFailed("no space left")) {
    state.withLock { $0.failures[$0.puts + n] = error }
  }

  /// The next loads fail, one with each of `errors`.
  package func failLoads(_ errors: [VaultError]) { state.withLock { $0.loadFailures += errors } }

  /// From the `n`th put from now on, counted from 1, all fail, as where the vault's file is gone; nil: it is back.
  package func setGone(fromPut n: Int?) { state.withLock { state in state.gonePut = n.map { state.puts + $0 } } }

  /// Nothing is kept aside any more.
  package func failSpills() { state.withLock { $0.takesNoSpill = true } }

  /// Another store takes its place, with nothing in it.
  package func replace() {
    state.withLock { state in
      state.records = [:]
      state.spilled = [:]
    }
  }

  /// Runs before each put is durable.
  package func beforePut(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.beforePut = body } }

  /// Records kept now.
  package var count: Int { state.withLock { $0.records.count } }
  package var loads: Int { state.withLock { $0.loads } }
  /// The most loads that were under way at once.
  package var mostLoading: Int { state.withLock { $0.mostLoading } }
  package var rolledBackFrom: UInt64? { state.withLock { $0.rolledBackFrom } }
  /// What reported a rollback says something else by now.
  package func setRollback(_ from: UInt64?) { state.withLock { $0.rolledBackFrom = from } }
  package var puts: Int { state.withLock { $0.puts } }
  /// Records kept aside.
  package var spilled: Int { state.withLock { $0.spilled.count } }
  /// Every record that was made durable, in order.
  package var history: [VaultRecord] { state.withLock { $0.history } }

  package func loadAll() async throws(VaultError) -> [VaultRecord] {
    state.withLock { state in
      state.loads += 1
      state.loading += 1
      state.mostLoading = max(state.mostLoading, state.loading)
    }
    defer { state.withLock { $0.loading -= 1 } }
    // Opening a vault takes a while: whoever comes meanwhile comes.
    for _ in 0..<20 { await Task.yield() }
    let result: Result<[VaultRecord], VaultError> = state.withLock { state in
      guard state.loadFailures.isEmpty else { return .failure(state.loadFailures.removeFirst()) }
      let records = state.records.merging(state.spilled) { $0.version < $1.version ? $1 : $0 }
      return .success(records.values.sorted { $0.id.description < $1.id.description })
    }
    return try result.get()
  }

  @discardableResult
  package func put(_ record: VaultRecord) async throws(VaultError) -> UInt64 {
    state.withLock { $0.beforePut }?()
    guard record.payload.count <= VaultRecord.maximumPayloadCount else { throw .storageFailed("it is too large") }
    let failure: VaultError? = state.withLock { state in
      state.puts += 1
      if let failure = state.failures.removeValue(forKey: state.puts) { return failure }
      if let gone = state.gonePut, state.puts >= gone { return .gone(path: "/vault") }
      if let stored = state.records[record.id], stored.version >= record.version {
        return .staleVersion(stored: stored.version)
      }
      state.records[record.id] = record
      state.spilled[record.id] = nil
      state.isMade = true
      state.history.append(record)
      return nil
    }
    if let failure { throw failure }
    return 0
  }

  package func spill(_ record: VaultRecord) async throws(VaultError) {
    let isTaken = state.withLock { state in
      if !state.takesNoSpill { state.spilled[record.id] = record }
      return !state.takesNoSpill
    }
    guard isTaken else { throw .storageFailed("there is no other place to keep it") }
  }

  // MARK: Late answers

  private struct Box: LateAnswerStore {
    let store: MemoryStore

    func put(_ payload: Secret, for record: RecordID) async throws(VaultError) {
      store.state.withLock { state in
        state.lastLateAnswer += 1
        state.lateAnswers.append((state.lastLateAnswer, record, payload))
      }
    }
  }

  /// The late answers that wait, oldest first.
  package var waitingLateAnswers: [(record: RecordID, payload: Secret)] {
    state.withLock { $0.lateAnswers.map { ($0.record, $0.payload) } }
  }

  package var lateAnswerStore: (any LateAnswerStore)? {
    state.withLock { $0.isMade } ? Box(store: self) : nil
  }

  package func lateAnswers() async throws(VaultError) -> [(record: RecordID, payload: Secret)] {
    state.withLock { $0.lastRead = $0.lastLateAnswer }
    return waitingLateAnswers
  }

  package func removeLateAnswers(of record: RecordID) async throws(VaultError) {
    state.withLock { state in state.lateAnswers.removeAll { $0.record == record && $0.number <= state.lastRead } }
  }

  package func delete(_ id: RecordID) async throws(VaultError) {
    state.withLock { state in
      state.records[id] = nil
      state.spilled[id] = nil
    }
    try await removeLateAnswers(of: id)
  }
}
