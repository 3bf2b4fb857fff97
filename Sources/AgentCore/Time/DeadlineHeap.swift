/// What is due when, the soonest first; of two that are due together, the one that was added first.
///
/// Nothing is taken out from its middle: whoever no longer waits leaves a dead entry, and ``compact(living:_:)`` removes
/// those when there are more of them than of the living. So adding and taking cost the logarithm of their number,
/// and what usually comes (a deadline later than all others) costs one comparison.
package struct DeadlineHeap<Due: Comparable, Element> {
  @usableFromInline
  struct Entry {
    @usableFromInline var due: Due
    @usableFromInline var order: UInt64
    @usableFromInline var element: Element

    @inlinable
    init(due: Due, order: UInt64, element: Element) {
      self.due = due
      self.order = order
      self.element = element
    }

    @inlinable
    func isBefore(_ other: Entry) -> Bool { due == other.due ? order < other.order : due < other.due }
  }

  @usableFromInline var entries: [Entry] = []
  @usableFromInline var added: UInt64 = 0

  @inlinable
  package init() {}

  /// The dead ones too.
  @inlinable package var count: Int { entries.count }
  @inlinable package var soonest: Due? { entries.first?.due }

  @inlinable
  package mutating func add(_ element: Element, due: Due) {
    added &+= 1
    entries.append(Entry(due: due, order: added, element: element))
    rise(entries.count - 1)
  }

  /// Takes the soonest out if it is due at `now`.
  @inlinable
  package mutating func takeDue(at now: Due) -> (element: Element, due: Due)? {
    guard let first = entries.first, first.due <= now else { return nil }
    entries.swapAt(0, entries.count - 1)
    entries.removeLast()
    if !entries.isEmpty { sink(0) }
    return (first.element, first.due)
  }

  /// Takes the soonest out while `isDead` says that nobody waits for it.
  @inlinable
  package mutating func dropDead(_ isDead: (Element, Due) -> Bool) {
    while let first = entries.first, isDead(first.element, first.due) { _ = takeDue(at: first.due) }
  }

  /// Removes the dead when they are more than the `living` and some.
  @inlinable
  package mutating func compact(living: Int, _ isLiving: (Element, Due) -> Bool) {
    guard entries.count > 2 * living + 64 else { return }
    entries = entries.filter { isLiving($0.element, $0.due) }
    for index in stride(from: entries.count / 2 - 1, through: 0, by: -1) { sink(index) }
  }

  @inlinable
  mutating func rise(_ start: Int) {
    var index = start
    while index > 0 {
      let parent = (index - 1) / 2
      guard entries[index].isBefore(entries[parent]) else { return }
      entries.swapAt(index, parent)
      index = parent
    }
  }

  @inlinable
  mutating func sink(_ start: Int) {
    var index = start
    while true {
      let left = 2 * index + 1
      guard left < entries.count else { return }
      let right = left + 1
      let sooner = right < entries.count && entries[right].isBefore(entries[left]) ? right : left
      guard entries[sooner].isBefore(entries[index]) else { return }
      entries.swapAt(index, sooner)
      index = sooner
    }
  }
}

extension DeadlineHeap: Sendable where Due: Sendable, Element: Sendable {}
extension DeadlineHeap.Entry: Sendable where Due: Sendable, Element: Sendable {}
