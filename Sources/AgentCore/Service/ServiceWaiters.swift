import AgentWire

/// Those who wait for something other than a token.
struct ServiceWaiters {
  /// What a task waits for.
  enum Event: Hashable {
    /// Some revocation of this account has ended.
    case revocation(String)
    /// Nothing is under way any more.
    case idle
    /// This server has told the time, or is not waited for any longer.
    case clock(ServerRoute)
  }

  /// Those who have asked for a change, until it is durable or refused.
  var changes = Waiters<CheckedContinuation<AgentFailure?, Never>>()
  private var tasks: [Event: Waiters<TimedWait>] = [:]

  func isAwaited(_ event: Event) -> Bool { tasks[event] != nil }

  mutating func add(_ wait: TimedWait, _ id: UInt64, for event: Event) {
    tasks[event, default: Waiters()].add(wait, id)
  }

  /// The task waits no longer, whatever happens.
  mutating func giveUp(_ id: UInt64, _ event: Event) {
    tasks[event]?.answer(id)
    if tasks[event]?.isEmpty == true { tasks[event] = nil }
  }

  mutating func happened(_ event: Event) {
    var waiting = tasks.removeValue(forKey: event)
    waiting?.answerAll()
  }

  /// The accounts are gone: no change comes about any more, and nothing of a revocation is heard.
  mutating func loseAccounts() {
    for waiter in changes.takeAll() { waiter.resume(returning: .vaultLocked) }
    for case .revocation(let name) in tasks.keys { happened(.revocation(name)) }
    giveUpOnClocks()
  }

  /// Nobody waits any more for a server that is asked for the time.
  mutating func giveUpOnClocks() {
    for case .clock(let server) in tasks.keys { happened(.clock(server)) }
  }
}
