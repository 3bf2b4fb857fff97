/// The one sleep of all who wait on an actor, until the first of their deadlines. A sleeping task for each would take more
/// memory than everything else that one who waits needs.
struct SharedSleep {
  /// A sleep may end so many seconds before its time: rounding must not become a loop.
  static let toleranceSeconds = 0.001

  /// Boot seconds.
  private var end = Double.infinity
  private var task: Task<Void, Never>?

  /// Sleeps until boot second `due`, unless a sleep under way ends before that. Then it calls `wake`, once.
  mutating func shorten<Owner: Actor>(
    to due: Double?, by time: any TimeKeeper, on owner: isolated Owner,
    wake: @escaping @Sendable (isolated Owner) -> Void
  ) {
    if let due, due < end { replace(until: due, by: time, on: owner, wake: wake) }
  }

  /// The same in place of the sleep under way, whenever that ends; nil: nobody waits any more.
  mutating func replace<Owner: Actor>(
    until due: Double?, by time: any TimeKeeper, on owner: isolated Owner,
    wake: @escaping @Sendable (isolated Owner) -> Void
  ) {
    cancel()
    guard let due else { return }
    end = due
    let seconds = max(0, due - time.now().bootSeconds)
    task = Task {
      do { try await time.sleep(seconds: seconds) } catch { return }
      // Cancelled after its end: another one has begun.
      if !Task.isCancelled { wake(owner) }
    }
  }

  mutating func cancel() {
    task?.cancel()
    self = SharedSleep()
  }
}
