import AgentCore
package import AgentWire
import Synchronization

/// A vault that is open until it is locked, and has nothing to say.
package final class ManualVault: VaultControl {
  private struct State {
    var steps: [String] = []
    var isLocked = false
    var isFailed = false
    var holdFailure: AgentFailure?
    var lockFailure: AgentFailure?
    var unlockFailure: AgentFailure?
    var isGone = false
    var creations = 0
    var isCreationHeld = false
    var creation: @Sendable () -> Result<String?, AgentFailure> = { .success(nil) }
  }

  private let state = Mutex(State())

  package init() {}

  /// What it was asked to do, in order.
  package var steps: [String] { state.withLock { $0.steps } }

  /// What it says of itself from now on.
  package func setFailed(_ isFailed: Bool) { state.withLock { $0.isFailed = isFailed } }
  package func fail(hold failure: AgentFailure) { state.withLock { $0.holdFailure = failure } }
  package func fail(lock failure: AgentFailure) { state.withLock { $0.lockFailure = failure } }
  package func fail(unlock failure: AgentFailure?) { state.withLock { $0.unlockFailure = failure } }

  /// Its file is gone until another is made.
  package func setGone() { state.withLock { $0.isGone = true } }
  /// How the next makings of a vault end.
  package func onCreate(_ body: @escaping @Sendable () -> Result<String?, AgentFailure>) {
    state.withLock { $0.creation = body }
  }
  /// Makings of a vault that were begun.
  package var creations: Int { state.withLock { $0.creations } }
  /// From now on they go on only when that is over.
  package func holdCreation(_ isHeld: Bool) { state.withLock { $0.isCreationHeld = isHeld } }

  package func status() async -> VaultStatusAnswer {
    state.withLock { state in
      VaultStatusAnswer(
        state: state.isLocked ? .locked : state.isGone ? .damaged : state.isFailed ? .failed : .open,
        slots: ["key_file"], path: "/vault", gone: state.isGone ? true : nil)
    }
  }
  package func confirm(_ request: VaultConfirmCode) async throws(AgentFailure) -> EmptyResult { EmptyResult() }
  package func create(_ request: VaultCreate) async throws(AgentFailure) -> String? {
    let creation = state.withLock { state in
      state.creations += 1
      return state.creation
    }
    while state.withLock({ $0.isCreationHeld }) { await Task.yield() }
    let code = try creation().get()
    state.withLock { $0.isGone = $0.isGone && code == nil }
    return code
  }
  package func hold() async throws(AgentFailure) {
    let failure = state.withLock { state in
      state.steps.append("hold")
      return state.holdFailure
    }
    if let failure { throw failure }
  }
  package func lock() async throws(AgentFailure) {
    let failure = state.withLock { state in
      state.steps.append("lock")
      state.isLocked = state.lockFailure == nil
      return state.lockFailure
    }
    if let failure { throw failure }
  }
  package func isSealed() async -> Bool { false }
  package func unlock(_ request: VaultUnlock) async throws(AgentFailure) {
    let failure = state.withLock { state in
      state.steps.append("unlock")
      if state.unlockFailure == nil { state.isLocked = false }
      return state.unlockFailure
    }
    if let failure { throw failure }
  }
  package func acceptRollback(_ request: VaultAcceptRollback) async throws(AgentFailure) {}
  package func slots() async throws(AgentFailure) -> VaultSlotsAnswer { VaultSlotsAnswer(slots: []) }
  package func setSlot(_ request: VaultSetSlot) async throws(AgentFailure) -> VaultSlotsAnswer {
    VaultSlotsAnswer(slots: [])
  }
  package func removeSlot(_ request: VaultRemoveSlot) async throws(AgentFailure) -> VaultSlotsAnswer {
    VaultSlotsAnswer(slots: [])
  }
  package func rekey(_ request: VaultRekey) async throws(AgentFailure) -> VaultSlotsAnswer {
    VaultSlotsAnswer(slots: [])
  }
  package func backup() async throws(AgentFailure) -> VaultBackupAnswer {
    VaultBackupAnswer(path: "/b", bytes: 0, records: 0)
  }
  package func check(_ request: VaultCheck) async throws(AgentFailure) -> VaultCheckAnswer {
    VaultCheckAnswer(records: 0, commit: 0, openedBy: "vault_key", slots: [])
  }
}
