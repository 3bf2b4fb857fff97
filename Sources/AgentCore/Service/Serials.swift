/// Numbers that are given once in the agent's life, those of logins and logouts once in the vault's.
struct Serials {
  private var lastID: UInt64 = 0
  private var lastGeneration: UInt32 = 0

  /// Of a waiter, or of a change: greater than that of every login and logout before.
  mutating func nextID() -> UInt64 {
    lastID += 1
    return lastID
  }

  /// Those of `record` were given in an earlier life.
  mutating func follow(_ record: AccountRecord) {
    let orders = [record.grant?.order] + record.revocations.map(\.order)
    lastID = max(lastID, orders.compactMap(\.self).max() ?? 0)
  }

  /// Of a state machine, so that no call of it has the number of another's.
  mutating func nextGeneration() -> UInt32 {
    lastGeneration += 1
    return lastGeneration
  }
}
