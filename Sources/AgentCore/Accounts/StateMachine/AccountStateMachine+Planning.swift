package import AgentWire

extension AccountStateMachine {
  /// Boot time at which `woke` has something to do, or its wish changes; nil: never. While its server cannot be reached
  /// and nobody waits, the server's own deadline wakes the account.
  package func wake(at now: Moment) -> Double? {
    // What is under way ends with an event of its own.
    guard isIdle else { return secondWake(at: now) }
    if unsaved != nil { return backoff.askedAt ?? now.bootSeconds }
    if isClosed { return nil }
    if let record, isToBeGivenUp(record, at: now) { return now.bootSeconds }
    var times: [Double] = []
    if let time = nextRevocationTime(at: now) { times.append(time) }
    // A wish that is there waits for a place, and the plan comes after it.
    if wish(at: now) != nil { return times.min() }
    if !waiters.isEmpty, hold != .probing { times.append(backoff.askedAt ?? now.bootSeconds) }
    if hold == nil, let due = nextRefresh(at: now) { times.append(max(due.at, backoff.plannedAt ?? due.at)) }
    return times.min()
  }

  /// What it wants to send, as soon as it is given a place; nil: nothing.
  package func wish(at now: Moment) -> RequestToSend? {
    if isClosed || !changes.isEmpty || unsaved != nil { return nil }
    if case .sending(let flight) = phase { return secondWish(flight, at: now) }
    guard isIdle, let record, cannotSend(at: now) == nil, hold != .probing, !isAmbiguous(record, at: now) else {
      return nil
    }
    if let next = waiters.min(by: { $0.deadline < $1.deadline }) {
      guard backoff.askWaitMilliseconds(at: now.bootSeconds) == nil else { return nil }
      return RequestToSend(key: next.key, priority: .caller(deadline: next.deadline))
    }
    guard let due = nextRefresh(at: now), max(due.at, plannedFrom) <= now.bootSeconds else { return nil }
    return RequestToSend(key: due.key, priority: .plan(due: due.at))
  }

  mutating func age(by missed: MissedTime, id: ChangeID) -> [Action] {
    let before = record
    let least = record?.missedSeconds(missed) ?? 0
    record?.age(by: missed)
    unsaved?.age(by: missed)
    switch phase {
    case .saving(var candidate, let purpose):
      candidate?.age(by: missed)
      phase = .saving(candidate, purpose)
    case .sending(var flight):
      flight.age(by: missed, least: least)
      phase = .sending(flight)
    default: break
    }
    guard isIdle, unsaved == nil, let record, record != before else { return [.publish] }
    return [.publish] + save(record, for: .change(id, eases: false))
  }

  /// Which token the plan refreshes next, and at which boot time.
  private func nextRefresh(at now: Moment) -> (key: TokenKey, at: Double)? {
    guard let record, let grant = record.grant, let definition, obstacle == nil, tokenGrant(record, grant) != nil
    else { return nil }
    switch grant.verdict?.kind {
    case .loginRequired where grant.verdict?.isUnconfirmed != true: return nil
    case .loginRequired: return unconfirmedTry(record, at: now).map { (.standard, $0) }
    case .clientRejected: return (.standard, backoff.plannedAt ?? now.bootSeconds)
    case nil: break
    }
    if record.intent != nil { return (.standard, now.bootSeconds) }
    // Where a refresh kills the token that callers still hold, only they know when it may go.
    guard definition.keep != .onDemand, !definition.refreshRevokesAccessToken else { return nil }
    var due: [(key: TokenKey, at: Double)] = []
    for token in record.tokens {
      guard let life = token.lifeSeconds, isAllowed(token.key) else { continue }
      let age = refreshAges[token.key] ?? RefreshPlan.refreshAge(lifeSeconds: life, random: 0.5)
      let isKept =
        definition.keep == .always || RefreshPlan.isInUse(sinceAsked: sinceAsked(grant, now), lifeSeconds: life)
      let refusedUntil = refusedKeys[token.key]?.until ?? -.infinity
      if isKept { due.append((token.key, max(boot(age, after: token.received, now), refusedUntil))) }
    }
    if let received = grant.refreshTokenReceived,
      let age = RefreshPlan.keepAliveAge(refreshTokenLifeSeconds: grant.refreshTokenLifeSeconds)
    {
      // A use counts as well: a server that does not rotate gives no new refresh token to count from.
      let used = grant.refreshed.map { boot(age, after: $0, now) } ?? -.infinity
      due.append((.standard, max(boot(age, after: received, now), used)))
    }
    return due.min { $0.at < $1.at }
  }

  /// The boot time `seconds` after `moment`.
  func boot(_ seconds: Double, after moment: Moment, _ now: Moment) -> Double {
    now.bootSeconds + seconds - now.elapsed(since: moment)
  }

  private func sinceAsked(_ grant: GrantRecord, _ now: Moment) -> Double? {
    asked.map { now.bootSeconds - $0 } ?? grant.lastAskedWallSeconds.map { now.wallSeconds - $0 }
  }

  /// Whether the life of a token is counted by the wall clock: it was received in another boot than that of `now`.
  func hasTokenOfAnotherBoot(_ now: Moment) -> Bool {
    record?.tokens.contains { $0.received.bootID != now.bootID } ?? false
  }

  // MARK: Status

  /// The state of the account in one word, and one line why.
  package func state(at now: Moment) -> (state: AccountSummary.State, reason: String?) {
    guard let grant = record?.grant else { return (.new, nil) }
    if let fault = lenderFault {
      return (Self.state(lender: fault.kind, else: .definitionChanged), fault.message(without: name))
    }
    if isDefinitionChanged { return (.definitionChanged, definitionChangedReason) }
    if let fault = clientFault { return (.clientRejected, fault.reason) }
    switch grant.verdict?.kind {
    case .loginRequired: return (.loginRequired, grant.verdict?.reason)
    case .clientRejected: return (.clientRejected, grant.verdict?.reason)
    case nil: break
    }
    if unsaved != nil { return (.retrying, unsavedReason) }
    // From the wish to ask until the answer is on disk.
    switch phase {
    case .sending, .saving(_, .intent), .saving(_, .secondIntent), .saving(_, .answer): return (.refreshing, nil)
    case .idle where hold == nil && wish(at: now) != nil: return (.refreshing, nil)
    case .idle, .saving(_, .change), .saving(_, .retrySave): break
    }
    if backoff.failures > 0 { return (.retrying, backoff.reason) }
    let token = record?.token(.standard)
    if let token, !isRejected(token), (token.remaining(at: now) ?? 1) > 0 { return (.ok, nil) }
    guard let record, tokenGrant(record, grant) != nil else {
      return (.loginRequired, misplacedPassword ?? "the server gave no refresh token")
    }
    switch hold {
    case .until(_, _, let reason)?: return (.retrying, reason)
    case .lender(let failure, _, _)?:
      return (Self.state(lender: failure.kind, else: .retrying), failure.message(without: name))
    case nil, .probing?: break
    }
    return (.expired, "renewed when it is asked for")
  }

  /// What a failure of the account that lends to it makes of it: that has no login, is not there, or something `other`.
  private static func state(lender kind: FailureKind, else other: AccountSummary.State) -> AccountSummary.State {
    if kind == .loginRequired { return .loginRequired }
    return kind == .configInvalid ? .configInvalid : other
  }

  /// What a person has to do before another account lends to it again; nil: nothing, or its own login comes first.
  var lenderHint: NextStep? {
    guard case .lender(let failure, _, _)? = hold, !failure.kind.isRetryable, record?.grant?.verdict == nil else {
      return nil
    }
    return failure.hint
  }

  /// Milliseconds until the next attempt by plan.
  package func retryAfterMilliseconds(at now: Moment) -> Int? {
    plannedFrom.isFinite ? max(0, Int((plannedFrom - now.bootSeconds) * 1_000)) : nil
  }

  /// Whether the agent gets the next token by itself: not after the server refused the login or the client.
  package var isRenewable: Bool {
    guard let record, let grant = record.grant, grant.verdict == nil else { return false }
    return tokenGrant(record, grant) != nil
  }
}
