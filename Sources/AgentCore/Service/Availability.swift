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

  var opening: Task<AgentFailure?, Never>?
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

  mutating func lock() { isLocked = true }

  mutating func unlock() { isLocked = false }

  mutating func stop() { isStopping = true }
}
