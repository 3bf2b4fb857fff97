/// Numbers that are given once in the agent's life.
struct Serials {
  private var lastID: UInt64 = 0
  private var lastGeneration: UInt32 = 0

  /// Of a waiter, or of a change.
  mutating func nextID() -> UInt64 {
    lastID += 1
    return lastID
  }

  /// Of a state machine, so that no call of it has the number of another's.
  mutating func nextGeneration() -> UInt32 {
    lastGeneration += 1
    return lastGeneration
  }
}
