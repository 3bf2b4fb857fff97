package import AgentWire

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
/// Whoever drives it hands in events (``handle(_:at:)``), performs the actions in order, reports how `save`, `send` and
/// `revoke` ended, and asks for its wish after each event. What it is at is a ``Phase``; which phases follow each other
/// stands with ``PhaseName``.
package struct AccountStateMachine: Sendable {
  /// The account's, before anything of it is known as well: what is kept is sealed under it.
  package let name: String
  /// The last durable state; nil: nothing is kept for the account.
  @Boxed package internal(set) var record: AccountRecord? { didSet { compareDefinition() } }
  @Boxed package private(set) var definition: AccountDefinition? { didSet { compareDefinition() } }
  /// How the definition differs from what the grant is bound to. Kept, since every rule that may send looks at it.
  package private(set) var differences: [DefinitionDifference] = []

  /// Set where the vault is older than what this machine has seen, until that is accepted: see `RecordStore.rolledBackFrom`.
  package internal(set) var rollback: UInt64?
  /// Nothing is sent any more: the vault is being locked, or the agent stops. What is under way is made durable.
  package internal(set) var isClosed = false
  /// Since then the record that could not be saved was tried again.
  var hasRetriedSave = false
  /// What keeps it from sending, as the account's server was seen last. Told before every event.
  package private(set) var hold: ServerHold?
  /// Logins of other accounts, and those under way, that what it has to revoke could end.
  private(set) var otherLogins: [LoginAtServer] = []
  /// What is numbered by that is kept now. It may have waited, and what was asked for meanwhile came before it.
  private(set) var order: UInt64 = 0
  /// Why its tokens are given to nobody, and nothing is sent: a login that they were got by is another one by now.
  @Boxed private(set) var lenderFault: AgentFailure?

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
  var rejectingResources = RejectingResources()
  /// A refresh that gave the rejected token again, and the boot time until which that is not tried again.
  var unchanged: (fingerprint: Fingerprint, until: Double)?
  /// Keys that the server gave no token for, and the boot time until which they are not asked for again.
  var refusedKeys: [TokenKey: (failure: AgentFailure, until: Double)] = [:]
  /// A record with a rotated refresh token that could not be made durable yet.
  @Boxed var unsaved: AccountRecord?
  /// The newer record of another vault that came while something was being saved: it takes its place with the end of that.
  @Boxed var replacement: AccountRecord?
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
  /// Another account's token was refused, and is got anew for one more call.
  var isLentAnew = false
  /// How often each secret was set or forgotten: see ``UsedSecrets/changesBefore``.
  package internal(set) var secretChanges: [SecretKind: Int] = [:]
  /// What the revocation under way was sent with.
  var revokingSecret: StoredSecret?
  package internal(set) var revocationQueue = RevocationQueue()

  /// `generation` tells this machine's calls from those of every other one of this agent's life.
  package init(
    _ name: String, record: AccountRecord?, definition: AccountDefinition?, rollback: UInt64? = nil,
    generation: UInt32 = 0
  ) {
    self.name = name
    self.record = record
    self.definition = definition
    self.rollback = rollback
    calls = UInt64(generation) << 32
    for token in record?.tokens ?? [] where token.isRejected == true { rejected[token.fingerprint] = calls }
    compareDefinition()
  }

  private mutating func compareDefinition() {
    differences = []
    guard let grant = record?.grant, let definition else { return }
    differences = grant.binding.differences(from: definition) + grant.kind.differences(to: definition.grant)
  }

  // MARK: Events

  /// Takes one event, and returns what is to be done, in order.
  package mutating func handle(_ event: Event, at now: Moment) -> [Action] {
    let actions = take(event, at: now)
    guard let lenderFault else { return actions }
    return actions.map { if case .deliver(let id, _) = $0 { .refuse(id, lenderFault) } else { $0 } }
  }

  private mutating func take(_ event: Event, at now: Moment) -> [Action] {
    switch event {
    case .asked(let waiter): return ask(waiter, at: now)
    case .rejected(let fingerprint, let place): return reject(fingerprint, at: place, now: now)
    case .timedOut(let ids): return timedOut(ids)
    case .changed(let change, let id): return self.change(change, id: id, at: now)
    case .defined(let definition): return define(definition)
    case .placed: return placed(at: now)
    case .saved(let random): return saved(at: now, random: random)
    case .saveFailed(let failure, let random): return saveFailed(failure, at: now, random: random)
    case .callEnded(let number, let end, let random): return callEnded(number, end, at: now, random: random)
    case .revocationEnded(let revocation, let end, let id, let random):
      return revocationEnded(revocation, end, id: id, at: now, random: random)
    case .woke(let asked):
      noteAsked(asked)
      return isIdle ? proceed(at: now) : []
    case .aged(let missed, let id): return age(by: missed, id: id)
    case .held(let hold, let revocationHolds, let logins, let lenderFault, let order):
      self.hold = hold
      self.order = order
      otherLogins = logins
      revocationQueue.holds = revocationHolds
      self.lenderFault = lenderFault
    case .revocationAsked(let login):
      revocationQueue.ask(for: (record?.revocations ?? []).filter(login.mayEnd))
      return isIdle ? proceed(at: now) : []
    case .serverAnswered: serverAnswered()
    case .rolledBack(let rollback): self.rollback = rollback
    case .replaced(let found, let rollback): return replaced(by: found, afterRollback: rollback, at: now)
    case .closed(let failure): return close(failure, at: now)
    case .reopened:
      isClosed = false
      hasRetriedSave = false
    case .late(let tokens): take(tokens)
    case .adopted(let calls): adopt(calls)
    }
    return []
  }

  private mutating func define(_ definition: AccountDefinition?) -> [Action] {
    self.definition = definition
    ease()
    let refused = waiters.filter { !isAllowed($0.key) }
    if !refused.isEmpty { waiters = waiters.filter { isAllowed($0.key) } }
    return [.publish] + refused.map { .refuse($0.id, notAllowed) }
  }

  /// Whether a token for `key` may be asked for. It may have been taken out of the file while somebody waited.
  func isAllowed(_ key: TokenKey) -> Bool {
    definition.map { key.isAllowed(by: $0, granted: record?.grant?.scope ?? []) } ?? true
  }

  var notAllowed: AgentFailure {
    AgentFailure(
      .notPermitted, "\(name): what is asked for may not be asked for any more: its file was changed", hint: "ask again"
    )
  }

  private mutating func saved(at now: Moment, random: Double) -> [Action] {
    guard case .saving(let candidate, let purpose) = phase else { return [] }
    if let replacement { return replacedWhileSaving(replacement, candidate, purpose, at: now, random: random) }
    phase = .idle
    let tokensBefore = record?.tokens
    // There is another secret for a revocation that waits.
    let waiting = record?.revocations ?? []
    revocationQueue.ask(
      for: waiting.filter { candidate?.clientSecret(for: $0) != record?.clientSecret(for: $0) })
    record = candidate
    unsaved = nil
    forgetOldTokens(before: tokensBefore, random: random)
    switch purpose {
    case .intent(let call):
      // The definition may have changed while the intent was being saved, and somebody may wait to log out.
      if let obstacle = obstacle ?? closing { return withdraw(call, obstacle) }
      guard changes.isEmpty, windowLeft(at: now) ?? 1 > 0 else { return withdraw(call, nil) }
      return send(call, at: now)
    case .secondIntent(let call, let flight):
      return sendSecond(call, beside: flight, at: now, random: random)
    case .answer(let call, let outcome):
      return [.publish] + settle(call, outcome, at: now) + proceed(at: now)
    case .change(let id, let eases, _):
      if eases { ease() }
      return [.publish, .changed(id, nil)] + settleAll(at: now) + proceed(at: now)
    case .retrySave:
      backoff.succeed()
      return [.publish] + settleAll(at: now) + proceed(at: now)
    }
  }

  private mutating func saveFailed(_ failure: AgentFailure, at now: Moment, random: Double) -> [Action] {
    guard case .saving(let candidate, let purpose) = phase else { return [] }
    if let replacement { return replacedWhileSaving(replacement, candidate, purpose, at: now, random: random) }
    phase = .idle
    backoff.fail(failure.message, at: now.bootSeconds, spread: random)
    (backoff.fault, backoff.hint) = (.storage, failure.hint)
    // A disk that is full keeps the end of a revocation from being noted, too: it is not sent again and again for that.
    revocationQueue.fail { $0.fail(failure.message, at: now.bootSeconds, spread: random) }
    switch purpose {
    case .change(let id, _, let isOnlyCopy):
      if isOnlyCopy { unsaved = candidate }
      return [.changed(id, failure)] + proceed(at: now)
    case .answer, .retrySave:
      // The only copy of a rotated refresh token, as above: it stays here and is saved again before anything else is sent.
      unsaved = candidate
    case .intent:
      // Nothing was sent.
      budget.giveBack()
    case .secondIntent(_, let flight):
      // The first request goes on alone.
      return resume(flight, at: now, random: random)
    }
    return refuseAll(failure, at: now) + proceed(at: now)
  }

  private mutating func timedOut(_ ids: Set<WaiterID>) -> [Action] {
    let over = waiters.filter { ids.contains($0.id) }
    waiters.removeAll { ids.contains($0.id) }
    let reason = backoff.reason ?? unanswered
    return over.map {
      .refuse(
        $0.id,
        AgentFailure(
          .timeout, "\(name): no token in the given time" + (reason.map { ": \($0)" } ?? ""), hint: doubtHint))
    }
  }

  /// What is waited for while a request is open.
  private var unanswered: String? {
    guard case .sending = phase, let grant = record?.grant else { return nil }
    return "\(host(of: grant.binding)) has not answered yet"
  }

  private mutating func serverAnswered() {
    guard isHeldByServer, isIdle, unsaved == nil else { return }
    isHeldByServer = false
    backoff.succeed()
  }

  // MARK: Parts shared by the rules

  mutating func noteAsked(_ boot: Double?) {
    if let boot, boot > (asked ?? -.infinity) { asked = boot }
  }

  mutating func save(_ candidate: AccountRecord, for purpose: Purpose) -> [Action] {
    let candidate = withRejections(candidate)
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
    if let record, withRejections(record) != record { return save(record, for: .answer(nil, .undecided)) }
    if let closing { return waiters.isEmpty ? [] : refuseAll(closing, at: now) }
    if let record, isToBeGivenUp(record, at: now) { return giveUpAmbiguous(record, at: now) }
    let revocation = nextRevocation(at: now).map { [$0] } ?? []
    guard mayTry, !waiters.isEmpty, let failure = cannotSend(at: now) else { return revocation }
    return revocation + refuseAll(failure, at: now)
  }

  /// Forgets what held refreshes back: something that may have been the cause was mended.
  mutating func ease() {
    backoff.succeed()
    rejectingResources.forget()
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
