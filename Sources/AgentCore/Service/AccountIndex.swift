import AgentWire

/// The accounts that have a definition, in the order of a list: the worst state first, then by name. Kept up to date account
/// by account, so that a list costs what has changed, and not what there is.
struct AccountIndex {
  /// How bad each state is.
  private static let order: [AccountSummary.State] = [
    .definitionChanged, .clientRejected, .loginRequired, .configInvalid, .loginPending, .retrying, .new,
    .refreshing, .ok, .expired,
  ]
  /// Beyond so many changes one sort of everything costs less than a search for the place of each.
  private static let fewChanges = 32

  struct Place: Comparable {
    let rank: Int
    let name: String

    static func < (left: Place, right: Place) -> Bool {
      left.rank == right.rank ? left.name < right.name : left.rank < right.rank
    }

    /// As `next` of a page has it.
    var cursor: String { "\(rank):\(name)" }
  }

  private struct Entry {
    var rank: Int
    /// When something happens to it by time alone: boot seconds.
    var end: Double?
  }

  static func rank(_ state: AccountSummary.State) -> Int { order.firstIndex(of: state) ?? 0 }

  /// Sorted, except those of `moved`.
  private var places: [Place] = []
  private var entries: [String: Entry] = [:]
  /// Those that stand at another place than `places` has, or that have none there.
  private var moved: [String: Int?] = [:]
  /// To be looked at before the next list.
  private var changed: Set<String> = []
  /// Of the accounts that have one; older ones of the same account are dead entries.
  private var ends = DeadlineHeap<Double, String>()
  /// Before the first list nobody needs to know.
  private(set) var isKept = false

  var count: Int { entries.count }
  var hasChanges: Bool { !changed.isEmpty }

  /// From now on it gets every change.
  mutating func begin(_ names: some Sequence<String>) {
    self = AccountIndex()
    isKept = true
    changed = Set(names)
  }

  mutating func note(_ name: String) { if isKept { changed.insert(name) } }

  /// Notes those to which time alone did something until `now`.
  mutating func noteTime(_ now: Double) {
    while let (name, _) = ends.takeDue(at: now) { changed.insert(name) }
  }

  /// Some of those that have to be looked at.
  mutating func takeChanged(_ most: Int) -> [String] {
    let taken = Array(changed.prefix(most))
    if taken.count == changed.count { changed = [] } else { changed.subtract(taken) }
    return taken
  }

  /// How an account is now; nil: there is no such account. `end`: when time alone changes that, in boot seconds.
  mutating func set(_ name: String, _ state: AccountSummary.State?, end: Double?) {
    let before = entries[name]
    entries[name] = state.map { Entry(rank: Self.rank($0), end: end) }
    if let end, end != before?.end {
      ends.add(name, due: end)
      ends.compact(living: entries.count) { name, end in entries[name]?.end == end }
    }
    guard before?.rank != entries[name]?.rank, moved[name] == nil else { return }
    moved.updateValue(before?.rank, forKey: name)
  }

  /// Everybody in order.
  mutating func sorted() -> [Place] {
    if moved.count > Self.fewChanges {
      places = entries.map { Place(rank: $1.rank, name: $0) }.sorted()
    } else {
      for (name, before) in moved {
        if let before, case let old = Place(rank: before, name: name), case let index = position(of: old),
          index < places.count, places[index] == old
        {
          places.remove(at: index)
        }
        if let entry = entries[name] {
          let new = Place(rank: entry.rank, name: name)
          places.insert(new, at: position(of: new))
        }
      }
    }
    moved = [:]
    return places
  }

  /// The first place that is not before `place`.
  private func position(of place: Place) -> Int { places.firstPlace { $0 >= place } }
}

extension RandomAccessCollection where Index == Int {
  /// The first index for which `isBehind` holds, where it holds for all behind that one.
  func firstPlace(where isBehind: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
