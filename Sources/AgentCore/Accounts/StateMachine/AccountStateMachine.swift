package import AgentWire
package import Sealing

/// The life of one account's grant: events in, actions out; no clock, no I/O.
///
/// One thing happens at a time: the machine is idle, or saving a record, or waiting for a token endpoint. So there is one
/// refresh per generation whatever the number of callers, a refresh token is sent only after its intent is durable, and
/// nobody gets a token before its record is.
///
/// The order is place, intent, request: a machine that wants to send says so (``wish(at:)``) and stays idle, with nothing
/// written, until it is given a place among the requests (``placed(at:)``). So whatever ends the wait, a lock, a stop, a
/// logout or a kill, has nothing to take back.
///
/// Whoever drives it performs the actions in order, reports how `save`, `send` and `revoke` ended, and asks for its wish
/// after each event.
package struct AccountStateMachine: Sendable {
  package typealias WaiterID = UInt64
  package typealias ChangeID = UInt64

  /// Somebody who asked for a token.
  package struct Waiter: Sendable {
    package var id: WaiterID
    package var key: TokenKey
    /// Seconds, as named in the request.
    package var minimumValiditySeconds: Double?
    package var rejected: Fingerprint?
    /// Where it was rejected, as origin and path; nil: nobody said.
    package var place: String?
    package var force: Bool
    package var bestEffort: Bool
    /// Boot time at which it stops waiting.
    package var deadline: Double
    /// The last call that had begun when it asked.
    var callsBefore: UInt64 = 0

    package init(
      id: WaiterID, key: TokenKey = .standard, minimumValiditySeconds: Double? = nil, rejected: Fingerprint? = nil,
      place: String? = nil, force: Bool = false, bestEffort: Bool = false, deadline: Double
    ) {
      self.id = id
      self.key = key
      self.minimumValiditySeconds = minimumValiditySeconds
      self.rejected = rejected
      self.place = place
      self.force = force
      self.bestEffort = bestEffort
      self.deadline = deadline
    }
  }

  /// What the driver does next.
  package enum Action: Sendable {
    /// Make the record durable, then call `saved` or `saveFailed`.
    case save(AccountRecord)
    /// Delete the record durably, then call `saved` or `saveFailed`.
    case erase
    /// Send it once, at once, then call `callEnded`.
    case send(TokenCall)
    /// Tell the server, then call `revocationEnded`.
    case revoke(RevocationRecord, clientSecret: Secret?)
    /// Take the account's entry of the ready tokens anew from `ready(at:)`. Always before the answers that depend on it.
    case publish
    case deliver(WaiterID, TokenRecord)
    case refuse(WaiterID, AgentFailure)
    /// A change asked for by `change` is durable, or failed.
    case changed(ChangeID, AgentFailure?)
  }

  enum Purpose: Sendable {
    case intent(TokenCall)
    /// The same refresh token once more, while the first request is still open.
    case secondIntent(TokenCall, beside: Flight)
    /// After an answer: what to tell the waiters once it is durable.
    case answer(TokenCall?, Outcome)
    /// `eases`: what held refreshes back may be mended by it.
    case change(ChangeID, eases: Bool)
    case retrySave
  }

  enum Outcome: Sendable {
    case token
    case failed(AgentFailure)
    /// The server does not give a token for this key; the other keys are not concerned.
    case keyRefused(AgentFailure)
    /// Another call follows at once.
    case again(TokenCall)
    /// The answer was lost; the waiters go on waiting for the one retry.
    case lost
  }

  /// What the machine is at. `idle` becomes any other; `saving` becomes `sending` after an intent, else `idle`; `sending`
  /// becomes `saving` with the answer, or when the request is sent a second time, or `idle` when there is nothing to save.
  indirect enum Phase: Sendable {
    case idle
    case saving(AccountRecord?, Purpose)
    case sending(Flight)
  }

  /// The last durable state; nil: nothing is kept for the account.
  @Boxed package internal(set) var record: AccountRecord?
  @Boxed package internal(set) var definition: AccountDefinition?
  /// Grows with every change that a token or its validity could depend on.
  package internal(set) var revision: UInt64 = 0

  /// Set where the vault is older than what this machine has seen, until that is accepted: see `RecordStore.rolledBackFrom`.
  package var rollback: UInt64?
  /// Nothing is sent any more: the vault is being locked, or the agent stops. What is under way is made durable.
  package internal(set) var isClosed = false
  /// Since then the record that could not be saved was tried again.
  var hasRetriedSave = false
  /// What keeps it from sending, as the account's server was seen last. Set before every event.
  package var hold: ServerHold?
  /// The same for the server of the next revocation.
  package var revocationHold: ServerHold?

  var phase = Phase.idle
  var waiters: [Waiter] = []
  var changes: [(id: ChangeID, change: AccountChange)] = []
  var backoff = Backoff()
  /// The back-off is for a server that did not answer, and ends when it answers somebody.
  var isHeldByServer = false
  var budget = ForcedRefreshBudget()
  /// Current tokens that an API answered 401 for, and the last call that had begun when that was first told: a later call
  /// that gives the same token again has not helped.
  var rejected: [Fingerprint: UInt64] = [:]
  /// Where new tokens are refused like old ones.
  var refusingPlaces = RefusingPlaces()
  /// A refresh that gave the rejected token again, and the boot time until which that is not tried again.
  var unchanged: (fingerprint: Fingerprint, until: Double)?
  /// Keys that the server gave no token for, and the boot time until which they are not asked for again.
  var refusedKeys: [TokenKey: (failure: AgentFailure, until: Double)] = [:]
  /// A record with a rotated refresh token that could not be made durable yet.
  @Boxed var unsaved: AccountRecord?
  /// Seconds after `received` at which each token is refreshed, spread when it came.
  var refreshAges: [TokenKey: Double] = [:]
  /// Boot time of the last request for a token.
  var asked: Double?
  /// The number of the last call.
  var calls: UInt64
  /// Requests still open that another answer has overtaken, by their numbers.
  var overtaken: [UInt64: TokenCall] = [:]
  var refusalsWithoutReason = 0
  var firstRefusalWithoutReason: Double?
  var isRevoking = false
  /// Somebody has asked for the next revocation: it is sent whatever is known of its server.
  var isRevocationAsked = false
  /// The same of the revocation under way.
  package internal(set) var isRevocationAskedFor = false
  /// What the revocation under way was sent with.
  var revokingSecret: StoredSecret?
  var revocationBackoff = Backoff()

  /// `generation` tells this machine's calls from those of every other one of this agent's life.
  package init(
    record: AccountRecord?, definition: AccountDefinition?, rollback: UInt64? = nil, generation: UInt32 = 0
  ) {
    self.record = record
    self.definition = definition
    self.rollback = rollback
    calls = UInt64(generation) << 32
  }

  // MARK: Events

  /// The definition file was read again; nil: it is gone.
  package mutating func define(_ definition: AccountDefinition?) {
    self.definition = definition
    revision += 1
    ease()
  }

  /// The last `save` or `erase` is durable.
  package mutating func saved(at now: Moment, random: Double) -> [Action] {
    guard case .saving(let candidate, let purpose) = phase else { return [] }
    phase = .idle
    let tokensBefore = record?.tokens
    // There is another secret for the next revocation.
    if let next = record?.revocations.first, candidate?.clientSecret(for: next) != record?.clientSecret(for: next) {
      askForRevocation()
    }
    record = candidate
    unsaved = nil
    revision += 1
    forgetOldTokens(before: tokensBefore, random: random)
    switch purpose {
    case .intent(let call):
      // The definition may have changed while the intent was being saved, and somebody may wait to log out.
      if let obstacle = obstacle ?? closing { return withdraw(call, obstacle) }
      guard changes.isEmpty else { return withdraw(call, nil) }
      return send(call, at: now)
    case .secondIntent(let call, let flight):
      return sendSecond(call, beside: flight, at: now, random: random)
    case .answer(let call, let outcome):
      return [.publish] + settle(call, outcome, at: now) + proceed(at: now)
    case .change(let id, let eases):
      if eases { ease() }
      return [.publish, .changed(id, nil)] + settleAll(at: now) + proceed(at: now)
    case .retrySave:
      backoff.succeed()
      return [.publish] + settleAll(at: now) + proceed(at: now)
    }
  }

  /// The last `save` or `erase` failed.
  package mutating func saveFailed(_ failure: AgentFailure, at now: Moment, random: Double) -> [Action] {
    guard case .saving(let candidate, let purpose) = phase else { return [] }
    phase = .idle
    backoff.fail(failure.message, at: now.bootSeconds, spread: random)
    // A disk that is full keeps the end of a revocation from being noted, too: it is not sent again and again for that.
    revocationBackoff.fail(failure.message, at: now.bootSeconds, spread: random)
    switch purpose {
    case .change(let id, _):
      return [.changed(id, failure)] + proceed(at: now)
    case .answer, .retrySave:
      // The only copy of a rotated refresh token: it stays here and is saved again before anything else is sent.
      unsaved = candidate
    case .intent:
      break
    case .secondIntent(_, let flight):
      // The first request goes on alone.
      return resume(flight, at: now, random: random)
    }
    return refuseAll(failure, at: now) + proceed(at: now)
  }

  /// The time of these waiters is over. The refresh they wait for goes on.
  package mutating func timedOut(_ ids: Set<WaiterID>) -> [Action] {
    let over = waiters.filter { ids.contains($0.id) }
    waiters.removeAll { ids.contains($0.id) }
    let reason = backoff.reason.map { ": \($0)" } ?? ""
    return over.map { .refuse($0.id, AgentFailure(.timeout, "\(name): no token in the given time\(reason)")) }
  }

  /// `wake(at:)`'s time has come. `asked`: boot time of the last request that was answered without the machine.
  package mutating func woke(at now: Moment, asked: Double?, random: Double) -> [Action] {
    noteAsked(asked)
    return isIdle ? proceed(at: now) : []
  }

  /// Its server, which had not answered, answers again: the account's own back-off has no reason any more.
  package mutating func serverAnswered() {
    guard isHeldByServer, isIdle, unsaved == nil else { return }
    isHeldByServer = false
    backoff.succeed()
  }

  // MARK: Parts shared by the rules

  mutating func noteAsked(_ boot: Double?) {
    if let boot, boot > (asked ?? -.infinity) { asked = boot }
  }

  mutating func save(_ candidate: AccountRecord, for purpose: Purpose) -> [Action] {
    phase = .saving(candidate, purpose)
    return [.save(candidate)]
  }

  /// Starts what is next: a save that failed, a change, a revocation. What it has to send waits for a place.
  mutating func proceed(at now: Moment) -> [Action] {
    guard isIdle else { return [] }
    if !changes.isEmpty {
      // A change starts from the unsaved record: saving it saves that too, and a disk that fails is told at once.
      let (id, change) = changes.removeFirst()
      return apply(change, id: id, at: now)
    }
    let mayTry = backoff.askWaitMilliseconds(at: now.bootSeconds) == nil
    if let unsaved, mayTry || isClosed && !hasRetriedSave {
      hasRetriedSave = isClosed
      return save(unsaved, for: .retrySave)
    }
    if unsaved != nil { return [] }
    if let closing { return waiters.isEmpty ? [] : refuseAll(closing, at: now) }
    if let record, isAmbiguous(record, at: now) { return giveUpAmbiguous(record, at: now) }
    let revocation = nextRevocation(at: now).map { [$0] } ?? []
    guard mayTry, !waiters.isEmpty, let failure = cannotSend(at: now) else { return revocation }
    return revocation + refuseAll(failure, at: now)
  }

  /// Forgets what held refreshes back: something that may have been the cause was mended.
  private mutating func ease() {
    backoff.succeed()
    refusingPlaces.forget()
    refusedKeys = [:]
    refusalsWithoutReason = 0
    firstRefusalWithoutReason = nil
  }

  mutating func forgetOldTokens(before: [TokenRecord]?, random: Double) {
    let tokens = record?.tokens ?? []
    guard before != tokens else { return }
    let current = Set(tokens.map(\.fingerprint))
    rejected = rejected.filter { current.contains($0.key) }
    refreshAges = refreshAges.filter { key, _ in tokens.contains { $0.key == key } }
    for token in tokens where before?.contains(token) != true {
      refreshAges[token.key] = token.lifeSeconds.map { RefreshPlan.refreshAge(lifeSeconds: $0, random: random) }
    }
  }
}
