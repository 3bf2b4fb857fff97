import HeapModule

/// Who is to be called when: one moment for each key, the soonest at hand, whatever their number.
package struct Alarms<Key: Hashable & Sendable>: Sendable {
  private struct Entry: Comparable {
    let due: Double
    let key: Key

    static func == (left: Entry, right: Entry) -> Bool { left.due == right.due }
    static func < (left: Entry, right: Entry) -> Bool { left.due < right.due }
  }

  /// May hold entries that were moved or cancelled; they are skipped.
  private var heap = Heap<Entry>()
  /// Boot seconds.
  private var moments: [Key: Double] = [:]

  package init() {}

  package var count: Int { moments.count }

  /// The moment of `key` in boot seconds; nil: it has none.
  package subscript(_ key: Key) -> Double? {
    get { moments[key] }
    set {
      guard moments[key] != newValue else { return }
      moments[key] = newValue
      if let newValue { heap.insert(Entry(due: newValue, key: key)) }
      if heap.count > 2 * moments.count + 64 { heap = Heap(moments.map { Entry(due: $0.value, key: $0.key) }) }
    }
  }

  /// The soonest moment in boot seconds.
  package mutating func first() -> Double? {
    while let entry = heap.min {
      if moments[entry.key] == entry.due { return entry.due }
      heap.removeMin()
    }
    return nil
  }

  /// Takes out whoever is due at `now`, the soonest first.
  package mutating func takeDue(at now: Double) -> [Key] {
    var due: [Key] = []
    while let first = first(), first <= now {
      let entry = heap.removeMin()
      moments[entry.key] = nil
      due.append(entry.key)
    }
    return due
  }
}
