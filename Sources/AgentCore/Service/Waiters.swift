/// Callers that wait for answers of one kind. Each stays in this table from its question until it is taken out to be
/// answered. So it is answered exactly once: by the answer or by its deadline, whichever comes first.
struct Waiters<Waiter: Sendable>: Sendable {
  private var waiting: [UInt64: Waiter] = [:]
  /// Their deadlines, boot seconds. A waiter that was answered leaves a dead entry.
  private var deadlines = DeadlineHeap<Double, UInt64>()

  var isEmpty: Bool { waiting.isEmpty }
  var count: Int { waiting.count }
  /// Counts dead entries, too.
  var deadlineCount: Int { deadlines.count }

  func contains(_ id: UInt64) -> Bool { waiting[id] != nil }

  subscript(id: UInt64) -> Waiter? { waiting[id] }

  mutating func add(_ waiter: Waiter, _ id: UInt64) { waiting[id] = waiter }

  /// It waits until boot second `due` at most.
  mutating func limit(_ id: UInt64, to due: Double) { deadlines.add(id, due: due) }

  /// Removes a waiter, to be answered now; nil: it was answered before.
  mutating func take(_ id: UInt64) -> Waiter? {
    guard let waiter = waiting.removeValue(forKey: id) else { return nil }
    if waiting.isEmpty {
      deadlines = DeadlineHeap()
    } else {
      deadlines.compact(living: waiting.count) { [waiting] id, _ in waiting[id] != nil }
    }
    return waiter
  }

  mutating func takeAll() -> [Waiter] {
    defer { self = Waiters() }
    return Array(waiting.values)
  }

  /// The earliest deadline, boot seconds.
  mutating func firstDeadline() -> Double? {
    deadlines.dropDead { [waiting] id, _ in waiting[id] == nil }
    return deadlines.soonest
  }

  /// Those whose deadline is over at boot second `now`. They are still in the table, to be answered.
  mutating func overdue(at now: Double) -> [(id: UInt64, waiter: Waiter)] {
    var over: [(id: UInt64, waiter: Waiter)] = []
    while let (id, _) = deadlines.takeDue(at: now) {
      if let waiter = waiting[id] { over.append((id, waiter)) }
    }
    return over
  }
}
