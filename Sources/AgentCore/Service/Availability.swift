import AgentWire

/// Whether accounts can be served and requests sent: where the agent stands between shut, open, locked and stopping, and
/// what is under way that leads from one to another.
struct Availability {
  /// Everything was read from the vault, and is in memory.
  private(set) var isOpen = false
  /// From the first step of a lock to an unlock. What is in memory stays until the lock has ended.
  private(set) var isLocked = false
  /// The agent is stopping. Tokens that are ready are still served.
  private(set) var isStopping = false
  /// What the vault was when it was opened: see `RecordStore.rolledBackFrom`.
  var rollback: UInt64?

  /// Why the last attempt to unlock the vault failed, where that was no fault of what was given for it.
  private(set) var unlockFailure: AgentFailure?

  var opening: Task<AgentFailure?, Never>?
  /// Under way while the vault is compared with what was read from it: see `CredentialService.lookAtVault`.
  var looking: Task<Bool, Never>?
  /// How many vaults were taken in the place of others.
  var replacements: UInt64 = 0
  var locking: Task<Result<Bool, AgentFailure>, Never>?
  /// Under way while a vault is made in the place of one that is gone.
  var beginning: Task<Result<String?, AgentFailure>, Never>?

  /// Whether what is in memory is what callers are answered from.
  var isServing: Bool { isOpen && !isLocked }

  /// Whether nothing is sent any more.
  var isClosed: Bool { isStopping || isLocked }

  mutating func open() { isOpen = true }

  /// What was in memory is forgotten.
  mutating func close() { isOpen = false }

  mutating func lock() { (isLocked, unlockFailure) = (true, nil) }

  mutating func unlock() { (isLocked, unlockFailure) = (false, nil) }

  mutating func unlockFailed(_ failure: AgentFailure) {
    unlockFailure = nil
    guard failure.kind == .storageFailed, let hint = failure.hint else { return }
    var failure = failure
    failure.hint = .advice("\(hint.text); then: oauthctl vault unlock")
    unlockFailure = failure
  }

  /// What whoever asks is told while the vault is locked: first what keeps it from being unlocked.
  var lockedFailure: AgentFailure {
    guard let failure = unlockFailure else { return .vaultLocked }
    return AgentFailure(
      .vaultLocked, "the vault is locked; when it was to be unlocked, \(failure.message)",
      hint: failure.hint)
  }

  mutating func stop() { isStopping = true }
}
