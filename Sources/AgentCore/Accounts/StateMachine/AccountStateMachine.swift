package import AgentWire
package import Sealing

/// The life of one account's grant: events in, actions out; no clock, no I/O.
///
/// One thing happens at a time: the machine is idle, or saving a record, or waiting for a token endpoint. So there is one
/// refresh per generation whatever the number of callers, a refresh token is sent only after its intent is durable, and
/// nobody gets a token before its record is. Whoever drives it performs the actions in order and reports how `save`,
/// `send` and `revoke` ended.
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
    package var force: Bool
    package var bestEffort: Bool
    /// Boot time at which it stops waiting.
    package var deadline: Double
    /// The last call that had begun when it asked.
    var callsBefore: UInt64 = 0

    package init(
      id: WaiterID, key: TokenKey = .standard, minimumValiditySeconds: Double? = nil, rejected: Fingerprint? = nil,
      force: Bool = false, bestEffort: Bool = false, deadline: Double
    ) {
      self.id = id
      self.key = key
      self.minimumValiditySeconds = minimumValiditySeconds
      self.rejected = rejected
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
    /// Send it once, then call `callEnded`.
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

  indirect enum Phase: Sendable {
    case idle
    case saving(AccountRecord?, Purpose)
    case sending(TokenCall)
  }

  /// The last durable state; nil: nothing is kept for the account.
  @Apart package internal(set) var record: AccountRecord?
  @Apart package internal(set) var definition: AccountDefinition?
  /// Grows with every change that a token or its validity could depend on.
  package internal(set) var revision: UInt64 = 0

  /// The record is of a vault older than what this machine has seen: its refresh token may have been rotated since, and
  /// using it could have the server revoke the grant. Valid tokens are served; a login ends it.
  package var isRolledBack = false
  /// What keeps it from sending, as the account's server was seen last. Set before every event.
  package var hold: ServerHold?
  /// The same for the server of the next revocation.
  package var revocationHold: ServerHold?

  var phase = Phase.idle
  var waiters: [Waiter] = []
  var changes: [(id: ChangeID, change: AccountChange)] = []
  var backoff = Backoff()
  var budget = ForcedRefreshBudget()
  /// Current tokens that an API answered 401 for, and the last call that had begun when that was first told: a later call
  /// that gives the same token again has not helped.
  var rejected: [Fingerprint: UInt64] = [:]
  /// A refresh that gave the rejected token again, and the boot time until which that is not tried again.
  var unchanged: (fingerprint: Fingerprint, until: Double)?
  /// Keys that the server gave no token for, and the boot time until which they are not asked for again.
  var refusedKeys: [TokenKey: (failure: AgentFailure, until: Double)] = [:]
  /// A record with a rotated refresh token that could not be made durable yet.
  @Apart var unsaved: AccountRecord?
  /// Seconds after `received` at which each token is refreshed, spread when it came.
  var refreshAges: [TokenKey: Double] = [:]
  /// Boot time of the last request for a token.
  var asked: Double?
  var calls: UInt64 = 0
  var refusalsWithoutReason = 0
  var firstRefusalWithoutReason: Double?
  var isRevoking = false
  /// Somebody has asked for the next revocation: it is sent whatever is known of its server.
  var isRevocationAsked = false
  /// What the revocation under way was sent with.
  var revokingSecret: StoredSecret?
  var revocationBackoff = Backoff()

  package init(record: AccountRecord?, definition: AccountDefinition?) {
    self.record = record
    self.definition = definition
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
    // One that was sent with the old secret may have been refused while the new one was being saved.
    if candidate?.clientSecret != record?.clientSecret { askForRevocation() }
    record = candidate
    unsaved = nil
    revision += 1
    forgetOldTokens(before: tokensBefore, random: random)
    switch purpose {
    case .intent(let call):
      // The definition may have changed while the intent was being saved.
      if let obstacle { return withdraw(call, obstacle) }
      phase = .sending(call)
      return [.send(call)]
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
    }
    return refuseAll(failure, at: now) + proceed(at: now)
  }

  /// A waiter's time is over, or it went away. The refresh it waits for goes on.
  package mutating func timedOut(_ id: WaiterID) -> [Action] {
    guard let index = waiters.firstIndex(where: { $0.id == id }) else { return [] }
    waiters.remove(at: index)
    let reason = backoff.reason.map { ": \($0)" } ?? ""
    return [.refuse(id, AgentFailure(.timeout, "\(name): no token in the given time\(reason)"))]
  }

  /// `wake(at:)`'s time has come. `asked`: boot time of the last request that was answered without the machine.
  package mutating func woke(at now: Moment, asked: Double?, random: Double) -> [Action] {
    noteAsked(asked)
    guard case .idle = phase else { return [] }
    return proceed(at: now) + (isIdle ? planned(at: now) : [])
  }

  // MARK: Parts shared by the rules

  package var name: String { definition?.name ?? record?.name ?? "?" }

  /// Neither set up, nor anything kept, nor anything under way.
  var isEmpty: Bool {
    definition == nil && record == nil && unsaved == nil && isIdle && !isRevoking && changes.isEmpty && waiters.isEmpty
  }

  var isIdle: Bool { if case .idle = phase { true } else { false } }

  /// Whether a request to the token endpoint is under way, or about to be.
  package var isCalling: Bool {
    switch phase {
    case .sending, .saving(_, .intent): true
    case .idle, .saving: false
    }
  }

  /// Whether a refresh token is being saved that nobody else has, and that the server gave in exchange for the one before.
  package var isSavingRotation: Bool {
    switch phase {
    case .saving(let candidate, .answer), .saving(let candidate, .retrySave):
      candidate?.grant?.refreshToken != record?.grant?.refreshToken
    case .idle, .saving, .sending: false
    }
  }

  /// Boot times before which neither the plan nor somebody who asks sends anything.
  var plannedFrom: Double {
    guard case .until(let planned, _, _) = hold else { return backoff.plannedAt ?? -.infinity }
    return max(planned, backoff.plannedAt ?? -.infinity)
  }

  /// The record that the next change starts from.
  var latest: AccountRecord? { unsaved ?? record }

  mutating func noteAsked(_ boot: Double?) {
    if let boot, boot > (asked ?? -.infinity) { asked = boot }
  }

  mutating func save(_ candidate: AccountRecord, for purpose: Purpose) -> [Action] {
    phase = .saving(candidate, purpose)
    return [.save(candidate)]
  }

  /// Starts what is next: a save that failed, a change, a refresh somebody waits for.
  mutating func proceed(at now: Moment) -> [Action] {
    guard isIdle else { return [] }
    if !changes.isEmpty {
      // A change starts from the unsaved record: saving it saves that too, and a disk that fails is told at once.
      let (id, change) = changes.removeFirst()
      return apply(change, id: id, at: now)
    }
    let mayTry = backoff.askWaitMilliseconds(at: now.bootSeconds) == nil
    if let unsaved { return mayTry ? save(unsaved, for: .retrySave) : [] }
    let revocation = nextRevocation(at: now).map { [$0] } ?? []
    guard mayTry, let next = waiters.min(by: { $0.deadline < $1.deadline }) else { return revocation }
    return revocation + begin(next.key, at: now)
  }

  /// Forgets what held refreshes back: something that may have been the cause was mended.
  private mutating func ease() {
    backoff.succeed()
    refusedKeys = [:]
    refusalsWithoutReason = 0
    firstRefusalWithoutReason = nil
  }

  /// Tells every waiter that there is no new token; a valid one that it would take all the same is given instead.
  mutating func refuseAll(_ failure: AgentFailure, at now: Moment) -> [Action] {
    defer { waiters = [] }
    return waiters.map { refuse($0, failure, at: now) }
  }

  func refuse(_ waiter: Waiter, _ failure: AgentFailure, at now: Moment) -> Action {
    guard let token = record?.token(waiter.key), rejected[token.fingerprint] == nil, !waiter.force,
      token.fingerprint != waiter.rejected, isAcceptable(token, for: waiter, at: now)
    else { return .refuse(waiter.id, failure) }
    return .deliver(waiter.id, token)
  }

  private mutating func forgetOldTokens(before: [TokenRecord]?, random: Double) {
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
