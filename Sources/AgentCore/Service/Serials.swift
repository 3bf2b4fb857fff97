/// Numbers that are given once in the agent's life, those of logins and logouts once in the vault's.
struct Serials {
  private var lastID: UInt64 = 0
  private var lastGeneration: UInt32 = 0
  /// The last number from before the vault was opened.
  private var lastOfEarlierLife: UInt64 = 0

  /// An agent gives 16 million numbers before they reach those of the next commit.
  private static let bitsBelowCommit: UInt64 = 24
  /// One commit a millisecond reaches it after two years; a vault with more has been sealed by hand.
  private static let greatestCommit: UInt64 = 1 << 36

  /// Of a waiter, or of a change: greater than that of every login and logout before.
  mutating func nextID() -> UInt64 {
    lastID += 1
    return lastID
  }

  /// Those of `records` were given in an earlier life. `commit` is the last one that this machine remembers of the vault: an older
  /// copy of it does not know all of them, so a life begins above what the one before can have given.
  mutating func follow(_ records: [AccountRecord], commit: UInt64) {
    let floor = min(commit, Self.greatestCommit) << Self.bitsBelowCommit
    lastID = max(lastID, records.flatMap(\.numbers).max() ?? 0, floor)
  }

  /// What was read from the vault just now was given before.
  mutating func beginLife() { lastOfEarlierLife = lastID }

  /// Whether `order` was given before the vault was opened.
  func isOfEarlierLife(_ order: UInt64) -> Bool { order <= lastOfEarlierLife }

  /// Of a state machine, so that no call of it has the number of another's.
  mutating func nextGeneration() -> UInt32 {
    lastGeneration += 1
    return lastGeneration
  }
}
