package import AgentWire

/// A lock or a stop, and what an unlock finds of before.
extension AccountStateMachine {
  /// What `close` stopped goes on: the vault was not locked after all.
  package mutating func reopen() {
    isClosed = false
    hasRetriedSave = false
  }

  /// Calls of this account that were sent before a lock, with the refresh token that it still has: their answers are
  /// waited for, and nothing is sent beside them.
  package mutating func adopt(_ calls: [TokenCall]) {
    guard isIdle, let first = calls.first else { return }
    var flight = Flight(first)
    flight.calls = calls
    flight.hasSecond = true
    phase = .sending(flight)
  }

  /// What came late for this account is saved before anything is sent. False: it says nothing new.
  package mutating func take(_ late: [LateToken]) -> Bool {
    guard var next = record, isIdle else { return false }
    for token in late { next.take(token) }
    guard next != record else { return false }
    unsaved = next
    return true
  }

  /// Sends nothing more. Waiters are told `failure`; without one they are told that the agent stops, but for those of a
  /// request under way, who wait for its answer. A rotated refresh token that could not be saved is tried once more.
  package mutating func close(_ failure: AgentFailure?, at now: Moment) -> [Action] {
    isClosed = true
    guard let failure else { return proceed(at: now) }
    let answers = waiters.map { Action.refuse($0.id, failure) }
    waiters = []
    return answers + proceed(at: now)
  }
}
