/// What others may know of the machine, and what the rules ask again and again.
extension AccountStateMachine {
  /// It is not set up, nothing of it is kept, and nothing is under way.
  var isEmpty: Bool {
    definition == nil && record == nil && unsaved == nil && isIdle && revocationQueue.sending == nil && changes.isEmpty
      && waiters.isEmpty
  }

  /// What waits to be revoked, or will as soon as it is durable.
  var revocationsAtHand: [RevocationRecord] {
    guard case .saving(let candidate, _) = phase else { return record?.revocations ?? [] }
    return (record?.revocations ?? []) + (candidate?.revocations ?? [])
  }

  var isSaving: Bool { if case .saving = phase { true } else { false } }

  var isIdle: Bool { if case .idle = phase { true } else { false } }

  /// Whether a request to the token endpoint is under way, or about to be.
  package var isCalling: Bool {
    switch phase {
    case .sending, .saving(_, .intent), .saving(_, .secondIntent), .saving(_, .answer(_, .again)): true
    case .idle, .saving: false
    }
  }

  package var hasWaiters: Bool { !waiters.isEmpty }

  /// The number of the last call that was begun.
  package var lastCall: UInt64 { calls }

  /// Whether this machine waits for the answer to call `number`.
  package func awaits(_ number: UInt64) -> Bool {
    switch phase {
    case .sending(let flight), .saving(_, .secondIntent(_, let flight)):
      flight.calls.contains { $0.number == number } || overtaken[number] != nil
    case .idle, .saving: overtaken[number] != nil
    }
  }

  /// Whether what is being saved would be lost with this process, as a refresh token that the server gave for the one before.
  package var isSavingOnlyCopy: Bool {
    switch phase {
    case .saving(let candidate, .answer), .saving(let candidate, .retrySave):
      candidate?.grant?.refreshToken != record?.grant?.refreshToken
    // Any other change fails without room, and then nothing of it counts.
    case .saving(_, .change(_, _, isOnlyCopy: true)): true
    case .idle, .saving, .sending: false
    }
  }

  /// Whether a refresh token is sent once what is being saved is durable.
  package var isSavingIntent: Bool {
    switch phase {
    case .saving(_, .intent), .saving(_, .secondIntent): true
    case .idle, .saving, .sending: false
    }
  }

  /// Boot times before which neither the plan nor somebody who asks sends anything.
  var plannedFrom: Double {
    switch hold {
    case .until(let planned, _, _)?, .lender(_, let planned, _)?: max(planned, backoff.plannedAt ?? -.infinity)
    case nil, .probing?: backoff.plannedAt ?? -.infinity
    }
  }

  /// The record that the next change starts from.
  var latest: AccountRecord? { unsaved ?? record }
}
