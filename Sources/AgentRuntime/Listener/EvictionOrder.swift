/// Which of the connections that are owed nothing make room for newcomers, and in which order.
///
/// Who is idle goes before who is at an unfinished line, the longest first. But unfinished lines hold a share of the places
/// at most: those beyond it go first, or one process with half a line on each of its connections would keep all places and
/// turn out every newcomer before it has asked.
///
/// All connections are looked at and sorted for a batch of those that go, not for each.
struct EvictionOrder {
  struct Candidate: Equatable {
    var number: UInt64
    /// When it became idle, or when its line is to be finished.
    var since: LoopTime
    var hasUnfinishedLine: Bool
  }

  /// So many at once are chosen from all: looking through thousands costs a millisecond, which is shared by them.
  static let batch = 128

  /// The first to go last.
  private var chosen: [Candidate] = []

  /// The next to go of those that were chosen and are as they were then.
  mutating func next(_ isUnchanged: (Candidate) -> Bool) -> Candidate? {
    while let candidate = chosen.popLast() {
      if isUnchanged(candidate) { return candidate }
    }
    return nil
  }

  /// Chooses anew; `share` is how many unfinished lines may stay while somebody is idle.
  mutating func choose(from candidates: [Candidate], share: Int) {
    let sorted = candidates.sorted { ($0.since, $0.number) < ($1.since, $1.number) }
    let unfinished = sorted.filter(\.hasUnfinishedLine)
    let beyond = max(unfinished.count - share, 0)
    let order = [unfinished.prefix(beyond), sorted.filter { !$0.hasUnfinishedLine }[...], unfinished.dropFirst(beyond)]
    chosen = order.joined().prefix(Self.batch).reversed()
  }
}
