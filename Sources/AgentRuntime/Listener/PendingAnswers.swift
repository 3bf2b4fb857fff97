import Synchronization

/// How many answers are being waited for, for those on other threads who want to know whether they disturb.
package final class PendingAnswers: Sendable {
  private let state = Atomic<Int>(0)

  package init() {}

  package var count: Int { state.load(ordering: .relaxed) }

  func change(by difference: Int) { state.add(difference, ordering: .relaxed) }
}
