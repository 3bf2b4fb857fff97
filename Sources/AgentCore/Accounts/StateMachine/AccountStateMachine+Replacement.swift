import AgentWire
import OAuthProtocol
import Sealing

/// What becomes of an account when another vault lies in the place of the one that was open.
extension AccountStateMachine {
  /// How new what is kept here is, or is being saved; nil: nothing is.
  package var newest: RecordAge? {
    if let replacement { return replacement.age }
    return switch phase {
    case .saving(nil, _): .erased
    case .saving(let candidate?, _): candidate.age
    case .idle, .sending: latest?.age
    }
  }

  /// Whether all that was changed last is durable.
  package var isWritten: Bool { unsaved == nil && newest == record?.age }

  /// `rollback` is that vault's. `found` is the newer record of the account there, which is taken at once, whatever is under way.
  /// Nil: what is here is newer than all that is there, and `AccountChange.writeAnew` is to follow. It is not held then, unless it
  /// was: here at once, and after a restart by the record.
  mutating func replaced(by found: AccountRecord?, afterRollback rollback: UInt64?, at now: Moment) -> [Action] {
    guard let found else {
      record = record.map { outliving($0, rollback) }
      unsaved = unsaved.map { outliving($0, rollback) }
      replacement = replacement.map { outliving($0, rollback) }
      if case .saving(let candidate?, let purpose) = phase { phase = .saving(outliving(candidate, rollback), purpose) }
      self.rollback = rollback
      return []
    }
    self.rollback = rollback
    if isSaving {
      replacement = found
      return []
    }
    return restore(found, losing: unsaved, at: now) + settleAll(at: now) + proceed(at: now)
  }

  private func outliving(_ record: AccountRecord, _ rollback: UInt64?) -> AccountRecord {
    func outlives(_ before: UInt64?) -> Bool { self.rollback == nil || before == self.rollback }
    var next = record
    if let grant = record.grant, outlives(grant.afterRollback) { next.grant?.afterRollback = rollback }
    for index in next.revocations.indices where outlives(next.revocations[index].afterRollback) {
      next.revocations[index].afterRollback = rollback
    }
    return next
  }

  /// What was being saved is of an older record than the ``replacement``, whether the old vault has got it or not.
  mutating func replacedWhileSaving(
    _ found: AccountRecord, _ candidate: AccountRecord?, _ purpose: Purpose, at now: Moment, random: Double
  ) -> [Action] {
    replacement = nil
    var actions: [Action] = []
    var early: [(number: UInt64, end: TokenCallEnd)] = []
    phase = .idle
    switch purpose {
    case .intent: budget.giveBack()
    case .secondIntent(_, var flight):
      early = flight.early
      flight.early = []
      flight.hasSecond = true
      phase = .sending(flight)
    case .answer, .retrySave: break
    case .change(let id, _, _): actions = [.changed(id, .changedMeanwhile(name))]
    }
    actions += restore(found, losing: candidate, at: now) + settleAll(at: now)
    actions += early.flatMap { callEnded($0.number, $0.end, at: now, random: random) }
    return actions + proceed(at: now)
  }

  /// `found` is in that vault: it is written once more only where the record of here has something for it. A refresh token that is
  /// `lost` with what was not durable is one that came late.
  private mutating func restore(_ found: AccountRecord, losing lost: AccountRecord?, at now: Moment) -> [Action] {
    if let record, let lost, let late = LateToken(in: lost, insteadOf: record, at: now) {
      changes.insert((0, .lateToken(late)), at: 0)
    }
    if let older = lost ?? record, !found.isEmpty, found.lacksParts(of: older, at: now) {
      changes.insert((0, .writeAnew(insteadOf: older)), at: 0)
    }
    var next = found.isEmpty ? nil : found
    let token = next?.grant?.refreshToken?.secret
    if case .sending(let flight) = phase, token == nil || flight.first?.grant.refreshToken != token {
      for call in flight.calls { overtaken[call.number] = call }
      phase = .idle
    }
    // A request with that refresh token may be open since before: the token is not sent once more beside it.
    let open = overtaken.values.filter { token != nil && $0.grant.refreshToken == token }.sorted {
      $0.number < $1.number
    }
    if isIdle, let first = open.first {
      for call in open { overtaken[call.number] = nil }
      phase = .sending(Flight(first, beside: open.dropFirst()))
    }
    if let token, case .sending = phase {
      next?.intent =
        found.intent.flatMap { $0.isAbout(token) ? $0.again(at: record?.intent?.at ?? $0.at) : nil }
        ?? record?.intent.flatMap { $0.isAbout(token) ? $0 : nil }
    }
    if let record { next?.joinIntent(of: record) }
    record = next
    unsaved = nil
    refreshAges = [:]
    rejected = [:]
    for token in found.tokens where token.isRejected == true { rejected[token.fingerprint] = calls }
    ease()
    return [.publish]
  }
}
