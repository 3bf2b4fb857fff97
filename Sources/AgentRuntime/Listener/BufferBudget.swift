/// What all connections of a table hold of what callers sent and did not end, and of answers that they did not take.
///
/// A little is every connection's own (`share`). What lies beyond is taken from what all have in common. When that is used
/// up, nobody gets more than its own, and whoever has held more than that for a while is dropped.
struct BufferBudget {
  /// A connection's own.
  let share: Int
  /// Of all, beyond their own.
  let limit: Int
  private(set) var total = 0
  /// Nobody gets more than its own, until an eighth is free again.
  private(set) var isUsedUp = false

  init(share: Int, limit: Int) {
    self.share = share
    self.limit = limit
  }

  /// What a connection that holds so much takes from what all have in common.
  func beyond(unfinished: Int, untaken: Int) -> Int { max(0, unfinished - share) + max(0, untaken - share) }

  /// A connection that took `before` takes `now`. Returns whether this made room again.
  mutating func change(from before: Int, to now: Int) -> Bool {
    total += now - before
    if total >= limit { isUsedUp = true }
    guard isUsedUp, total <= limit - limit / 8 else { return false }
    isUsedUp = false
    return true
  }
}
