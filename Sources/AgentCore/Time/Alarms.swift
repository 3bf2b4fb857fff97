/// Who is to be called when: one moment for each key, the soonest at hand, whatever their number.
package struct Alarms<Key: Hashable & Sendable>: Sendable {
  private struct Setting {
    /// Boot seconds.
    let due: Double
    /// Tells two settings of a key to the same moment apart, of which only the last one counts.
    let number: UInt64
  }

  /// May hold settings that were replaced or cancelled; they are skipped.
  private var heap = DeadlineHeap<Double, (key: Key, number: UInt64)>()
  private var settings: [Key: Setting] = [:]
  private var lastNumber: UInt64 = 0

  package init() {}

  package var count: Int { settings.count }

  /// The moment of `key` in boot seconds; nil: it has none.
  package subscript(_ key: Key) -> Double? {
    get { settings[key]?.due }
    set {
      guard settings[key]?.due != newValue else { return }
      lastNumber += 1
      settings[key] = newValue.map { Setting(due: $0, number: lastNumber) }
      if let newValue { heap.add((key, lastNumber), due: newValue) }
      heap.compact(living: settings.count) { [settings] setting, _ in settings[setting.key]?.number == setting.number }
    }
  }

  /// The soonest moment in boot seconds.
  package mutating func first() -> Double? {
    heap.dropDead { [settings] setting, _ in settings[setting.key]?.number != setting.number }
    return heap.soonest
  }

  /// Takes out whoever is due at `now`, the soonest first.
  package mutating func takeDue(at now: Double) -> [Key] {
    var due: [Key] = []
    while let first = first(), first <= now, let (setting, _) = heap.takeDue(at: now) {
      settings[setting.key] = nil
      due.append(setting.key)
    }
    return due
  }

  /// The dead ones too.
  var entryCount: Int { heap.count }
}
