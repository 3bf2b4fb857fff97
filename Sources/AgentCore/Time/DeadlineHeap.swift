package import HeapModule

/// What is due when, the soonest first; of two that are due together, the one that was added first.
///
/// Nothing is taken out from its middle: whoever no longer waits leaves a dead entry, and ``compact(living:_:)`` removes
/// those when there are more of them than of the living. So adding and taking cost the logarithm of their number.
package struct DeadlineHeap<Due: Comparable, Element> {
  @usableFromInline
  package struct Entry: Comparable {
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
    package static func == (left: Entry, right: Entry) -> Bool { left.order == right.order }

    @inlinable
    package static func < (left: Entry, right: Entry) -> Bool {
      left.due == right.due ? left.order < right.order : left.due < right.due
    }
  }

  @usableFromInline var entries = Heap<Entry>()
  @usableFromInline var added: UInt64 = 0

  @inlinable
  package init() {}

  /// The dead ones too.
  @inlinable package var count: Int { entries.count }
  @inlinable package var soonest: Due? { entries.min?.due }

  @inlinable
  package mutating func add(_ element: Element, due: Due) {
    added &+= 1
    entries.insert(Entry(due: due, order: added, element: element))
  }

  /// Takes the soonest out if it is due at `now`.
  @inlinable
  package mutating func takeDue(at now: Due) -> (element: Element, due: Due)? {
    guard let first = entries.min, first.due <= now else { return nil }
    entries.removeMin()
    return (first.element, first.due)
  }

  /// Takes the soonest out while `isDead` says that nobody waits for it.
  @inlinable
  package mutating func dropDead(_ isDead: (Element, Due) -> Bool) {
    while let first = entries.min, isDead(first.element, first.due) { entries.removeMin() }
  }

  /// Removes the dead when they are more than the `living` and some.
  @inlinable
  package mutating func compact(living: Int, _ isLiving: (Element, Due) -> Bool) {
    guard entries.count > 2 * living + 64 else { return }
    entries = Heap(entries.unordered.filter { isLiving($0.element, $0.due) })
  }
}

extension DeadlineHeap: Sendable where Due: Sendable, Element: Sendable {}
extension DeadlineHeap.Entry: Sendable where Due: Sendable, Element: Sendable {}
