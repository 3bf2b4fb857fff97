import AgentWire

/// A lock or a stop, and what an unlock finds from before.
extension AccountStateMachine {
  mutating func adopt(_ calls: [TokenCall]) {
    guard isIdle, let first = calls.first else { return }
    phase = .sending(Flight(first, beside: calls.dropFirst()))
  }

  mutating func take(_ late: [LateToken]) {
    guard var next = record, isIdle else { return }
    for token in late { next.take(token) }
    if next != record { unsaved = next }
  }

  mutating func close(_ failure: AgentFailure?, at now: Moment) -> [Action] {
    isClosed = true
    guard let failure else { return proceed(at: now) }
    let answers = waiters.map { Action.refuse($0.id, failure) }
    waiters = []
    return answers + proceed(at: now)
  }
}
