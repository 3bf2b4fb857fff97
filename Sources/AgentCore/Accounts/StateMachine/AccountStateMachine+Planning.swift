package import AgentWire

extension AccountStateMachine {
  /// Boot time at which `woke` has something to do; nil: never.
  package func wake(at now: Moment) -> Double? {
    // What is under way ends with an event of its own. What `proceed` would put off must not wake it either.
    guard isIdle else { return nil }
    if unsaved != nil { return backoff.askedAt ?? now.bootSeconds }
    var times: [Double] = []
    if let time = nextRevocationTime(at: now) { times.append(time) }
    // How the other account's request ends is told.
    if hold == .probing { return times.min() }
    if !waiters.isEmpty { times.append(backoff.askedAt ?? now.bootSeconds) }
    if let due = nextRefresh(at: now) { times.append(max(due.at, plannedFrom)) }
    return times.min()
  }

  /// The machine stood still: what was received at `before` or earlier is `seconds` older than its clock knew. `id` names
  /// the change that makes it durable; until then it holds all the same.
  package mutating func age(by seconds: Double, before: Moment, id: ChangeID) -> [Action] {
    record?.age(by: seconds, before: before)
    unsaved?.age(by: seconds, before: before)
    if case .saving(var candidate, let purpose) = phase {
      candidate?.age(by: seconds, before: before)
      phase = .saving(candidate, purpose)
    }
    revision += 1
    guard isIdle, unsaved == nil, let record else { return [.publish] }
    return [.publish] + save(record, for: .change(id, eases: false))
  }

  /// Starts the refresh that is due, if one is.
  mutating func planned(at now: Moment) -> [Action] {
    guard unsaved == nil, let due = nextRefresh(at: now), max(due.at, plannedFrom) <= now.bootSeconds else {
      return []
    }
    return begin(due.key, at: now)
  }

  /// Which token the plan refreshes next, and at which boot time.
  private func nextRefresh(at now: Moment) -> (key: TokenKey, at: Double)? {
    guard let record, let grant = record.grant, let definition, obstacle == nil, credential(record, grant) != nil
    else { return nil }
    if record.intent != nil { return (.standard, now.bootSeconds) }
    switch grant.verdict?.kind {
    case .loginRequired where grant.verdict?.isUnconfirmed != true: return nil
    case .loginRequired, .clientRejected: return (.standard, backoff.plannedAt ?? now.bootSeconds)
    case nil: break
    }
    // Where a refresh kills the token that callers still hold, only they know when it may go.
    guard definition.keep != .onDemand, !definition.refreshRevokesAccessToken else { return nil }
    var due: [(key: TokenKey, at: Double)] = []
    for token in record.tokens {
      guard let life = token.lifeSeconds else { continue }
      let age = refreshAges[token.key] ?? RefreshPlan.refreshAge(lifeSeconds: life, random: 0.5)
      let isKept =
        definition.keep == .always || RefreshPlan.isInUse(sinceAsked: sinceAsked(grant, now), lifeSeconds: life)
      let refusedUntil = refusedKeys[token.key]?.until ?? -.infinity
      if isKept { due.append((token.key, max(boot(age, after: token.received, now), refusedUntil))) }
    }
    if let received = grant.refreshTokenReceived,
      let age = RefreshPlan.keepAliveAge(refreshTokenLifeSeconds: grant.refreshTokenLifeSeconds)
    {
      // Used is used: a server that does not rotate gives no new refresh token to count from.
      let used = grant.refreshed.map { boot(age, after: $0, now) } ?? -.infinity
      due.append((.standard, max(boot(age, after: received, now), used)))
    }
    return due.min { $0.at < $1.at }
  }

  /// The boot time `seconds` after `moment`.
  private func boot(_ seconds: Double, after moment: Moment, _ now: Moment) -> Double {
    now.bootSeconds + seconds - now.elapsed(since: moment)
  }

  private func sinceAsked(_ grant: GrantRecord, _ now: Moment) -> Double? {
    asked.map { now.bootSeconds - $0 } ?? grant.lastAskedWallSeconds.map { now.wallSeconds - $0 }
  }

  // MARK: Status

  /// The state of the account in one word, and one line why.
  package func state(at now: Moment) -> (state: AccountSummary.State, reason: String?) {
    guard let grant = record?.grant else { return (.new, nil) }
    if isDefinitionChanged { return (.definitionChanged, definitionChangedReason) }
    switch grant.verdict?.kind {
    case .loginRequired: return (.loginRequired, grant.verdict?.reason)
    case .clientRejected: return (.clientRejected, grant.verdict?.reason)
    case nil: break
    }
    if unsaved != nil { return (.retrying, unsavedReason) }
    // From the wish to ask until the answer is on disk.
    switch phase {
    case .sending, .saving(_, .intent), .saving(_, .answer): return (.refreshing, nil)
    case .idle, .saving(_, .change), .saving(_, .retrySave): break
    }
    if backoff.failures > 0 { return (.retrying, backoff.reason) }
    let token = record?.token(.standard)
    if let token, rejected[token.fingerprint] == nil, (token.remaining(at: now) ?? 1) > 0 { return (.ok, nil) }
    guard let record, credential(record, grant) != nil else {
      return (.loginRequired, "the server gave no refresh token")
    }
    if case .until(_, _, let reason) = hold { return (.retrying, reason) }
    return (.expired, "renewed when it is asked for")
  }

  /// Milliseconds until the next attempt by plan.
  package func retryAfterMilliseconds(at now: Moment) -> Int? {
    plannedFrom.isFinite ? max(0, Int((plannedFrom - now.bootSeconds) * 1_000)) : nil
  }

  /// Whether the agent can get the next token by itself.
  package var isRenewable: Bool {
    guard let record, let grant = record.grant else { return false }
    return credential(record, grant) != nil
  }
}
