import AgentWire
import Sealing

extension AccountStateMachine {
  /// Attempts a refresh token gets when answers are lost: the first, and one more.
  static let attempts = 2
  /// Refusals without a reason, and the seconds they must span, that count as a login needed.
  static let unconfirmedRefusals = 3
  static let unconfirmedSeconds = 600.0
  /// Seconds between probes while the server rejects the client.
  static let clientProbeSeconds = 3_600.0

  /// What a new token can be had with; nil: nothing.
  func credential(_ record: AccountRecord, _ grant: GrantRecord) -> TokenCall.Credential? {
    if let token = grant.refreshToken { return .refreshToken(token.secret) }
    switch grant.kind {
    case .clientCredentials: return .clientCredentials
    case .password: return storedPassword(record)
    case .authorizationCode, .deviceCode: return nil
    }
  }

  private func storedPassword(_ record: AccountRecord) -> TokenCall.Credential? {
    guard record.grant?.kind == .password, let password = record.password, let username = definition?.username
    else { return nil }
    return .password(username: username, password.secret)
  }

  /// Starts a call for `key`: the intent first when it uses a refresh token up.
  mutating func begin(_ key: TokenKey, at now: Moment) -> [Action] {
    guard isIdle, unsaved == nil, let record, let grant = record.grant, let credential = credential(record, grant)
    else { return refuseAll(loginRequired("not logged in")) }
    guard !isDefinitionChanged else { return refuseAll(definitionChanged) }
    return begin(credential, key, record, grant, at: now)
  }

  private mutating func begin(
    _ credential: TokenCall.Credential, _ key: TokenKey, _ record: AccountRecord, _ grant: GrantRecord, at now: Moment
  ) -> [Action] {
    var attempt = 1
    if case .refreshToken = credential, let intent = record.intent {
      attempt = intent.attempt + 1
      if attempt > Self.attempts || definition?.ambiguousRetry == .never { return giveUpAmbiguous(record) }
    }
    let call = makeCall(credential, key, record, grant, at: now)
    guard case .refreshToken(let token) = credential else {
      phase = .sending(call)
      return [.send(call)]
    }
    var next = record
    next.intent = RefreshIntent(
      fingerprint: Fingerprint(of: token).description, attempt: attempt, at: now,
      endpoint: grant.binding.tokenEndpoint)
    return save(next, for: .intent(call))
  }

  private mutating func makeCall(
    _ credential: TokenCall.Credential, _ key: TokenKey, _ record: AccountRecord, _ grant: GrantRecord, at now: Moment
  ) -> TokenCall {
    calls += 1
    // A refresh without scope asks for the grant's own (RFC 6749 §6); other grants ask anew for the account's.
    let ownScope: [String] = if case .refreshToken = credential { [] } else { definition?.scope ?? [] }
    return TokenCall(
      credential: credential, key: key, scope: key.scope.isEmpty ? ownScope : key.scope,
      resource: key.resource.isEmpty ? definition?.resource ?? [] : key.resource,
      audience: key.audience.isEmpty ? definition?.audience ?? [] : key.audience, binding: grant.binding,
      clientSecret: record.clientSecret?.secret, number: calls, started: now)
  }

  /// The answers to a refresh and to its one retry are lost: a third sending could only do harm.
  private mutating func giveUpAmbiguous(_ record: AccountRecord) -> [Action] {
    var next = record
    let verdict = GrantVerdict(
      .loginRequired, "the answer to a refresh was lost, so its refresh token may be used up")
    next.grant?.verdict = verdict
    next.intent = nil
    return save(next, for: .answer(nil, .failed(failure(verdict))))
  }

  /// The call sent last ended.
  package mutating func callEnded(_ end: TokenCallEnd, at now: Moment, random: Double) -> [Action] {
    guard case .sending(let call) = phase, let record else { return [] }
    phase = .idle
    var next = record
    switch end {
    case .notSent(let reason):
      backoff.fail(reason, at: now.bootSeconds, spread: random)
      guard call.rotates else { return settle(call, .failed(unavailable(at: now)), at: now) }
      // Nothing left, so this attempt does not count: the intent is as before it.
      next.intent = record.intent.flatMap { intent in
        guard intent.attempt > 1 else { return nil }
        var earlier = intent
        earlier.attempt -= 1
        return earlier
      }
      return save(next, for: .answer(call, .failed(unavailable(at: now))))
    case .sentNoAnswer(let reason):
      backoff.fail(reason, at: now.bootSeconds, spread: random)
      guard call.rotates else { return settle(call, .failed(unavailable(at: now)), at: now) }
      guard let intent = record.intent, intent.attempt < Self.attempts, definition?.ambiguousRetry != .never
      else { return giveUpAmbiguous(record) }
      return settle(call, .lost, at: now)
    case .answered(let answer):
      next.intent = nil
      if let refreshToken = answer.refreshToken {
        next.grant?.refreshToken = StoredSecret(refreshToken)
        next.grant?.refreshTokenReceived = call.started
        next.grant?.refreshTokenLifeSeconds = answer.refreshTokenLifeSeconds
      }
      return judge(answer.verdict, call, next, at: now, random: random)
    }
  }

  private mutating func judge(
    _ verdict: JudgedAnswer.Verdict, _ call: TokenCall, _ next: AccountRecord, at now: Moment, random: Double
  ) -> [Action] {
    var next = next
    var outcome: Outcome
    switch verdict {
    case .granted(let accessToken, let tokenType, let lifeSeconds, let scope):
      let token = TokenRecord(
        key: call.key, accessToken: accessToken, tokenType: tokenType, scope: scope ?? next.grant?.scope ?? [],
        received: call.started, lifeSeconds: lifeSeconds)
      next.tokens = tokens(next.tokens, adding: token)
      next.grant?.refreshed = call.started
      next.grant?.verdict = nil
      next.grant?.lastAskedWallSeconds = asked.map { now.wallSeconds - (now.bootSeconds - $0) }
      backoff.succeed()
      refusalsWithoutReason = 0
      firstRefusalWithoutReason = nil
      outcome = .token
    case .grantRefused(let error, let description):
      if call.rotates, let password = storedPassword(next), let grant = next.grant {
        // The refresh token is dead, and the user chose that the agent may log in again with the stored password.
        outcome = .again(makeCall(password, call.key, next, grant, at: now))
      } else {
        let host = host(of: call.binding)
        let what = call.rotates ? "refused the refresh token" : "refused the login"
        outcome = decide(&next, .loginRequired, "\(host) \(what) (\(error))", error, description)
      }
    case .clientRefused(let error, let description):
      backoff.fail(error, at: now.bootSeconds, spread: random, least: Self.clientProbeSeconds)
      outcome = decide(
        &next, .clientRejected, "\(host(of: call.binding)) rejects the client (\(error))", error, description)
    case .refused(let error, let description):
      backoff.fail("\(host(of: call.binding)) answered \(error)", at: now.bootSeconds, spread: random, least: 60)
      outcome = .failed(
        AgentFailure(
          .serverRefused, "\(name): \(host(of: call.binding)) refused to give a token (\(error))",
          hint: description.map { "the server says: \($0)" }, oauthError: error, oauthErrorDescription: description))
    case .refusedWithoutReason(let reason):
      refusalsWithoutReason += 1
      let first = firstRefusalWithoutReason ?? now.bootSeconds
      firstRefusalWithoutReason = first
      backoff.fail(reason, at: now.bootSeconds, spread: random)
      let isConfirmed =
        refusalsWithoutReason >= Self.unconfirmedRefusals && now.bootSeconds - first >= Self.unconfirmedSeconds
      outcome =
        isConfirmed
        ? decide(&next, .loginRequired, "\(reason), again and again (unconfirmed)", nil, nil)
        : .failed(unavailable(at: now))
    case .undecided(let reason, let retryAfterSeconds):
      backoff.fail(reason, at: now.bootSeconds, spread: random, retryAfterSeconds: retryAfterSeconds)
      outcome = .failed(unavailable(at: now))
    }
    if next == record { return settle(call, outcome, at: now) + proceed(at: now) }
    return save(next, for: .answer(call, outcome))
  }

  private func decide(
    _ next: inout AccountRecord, _ kind: GrantVerdict.Kind, _ reason: String, _ error: String?, _ description: String?
  ) -> Outcome {
    let verdict = GrantVerdict(kind, reason, oauthError: error, oauthErrorDescription: description)
    next.grant?.verdict = verdict
    return .failed(failure(verdict))
  }

  private func tokens(_ old: [TokenRecord], adding token: TokenRecord) -> [TokenRecord] {
    // A server that kills the old access token with the refresh killed those of the other keys too.
    let kept = definition?.refreshRevokesAccessToken == true ? [] : old.filter { $0.key != token.key }
    return Array((kept + [token]).suffix(TokenKey.limit))
  }

  // MARK: Settling

  /// Tells the waiters of `call` how it ended, and everybody else who waits only if nothing can be had at all.
  mutating func settle(_ call: TokenCall?, _ outcome: Outcome, at now: Moment) -> [Action] {
    switch outcome {
    case .lost:
      return []
    case .again(let call):
      phase = .sending(call)
      return [.send(call)]
    case .failed(let failure):
      defer { waiters = [] }
      return waiters.map { waiter in
        guard let token = record?.token(waiter.key), !rejected.contains(token.fingerprint), !waiter.force,
          isAcceptable(token, for: waiter, at: now)
        else { return .refuse(waiter.id, failure) }
        return .deliver(waiter.id, token)
      }
    case .token:
      return settleAll(at: now, call: call)
    }
  }

  /// Serves every waiter that the tokens at hand suffice for; the others go on waiting.
  mutating func settleAll(at now: Moment, call: TokenCall? = nil) -> [Action] {
    var actions: [Action] = []
    var remaining: [Waiter] = []
    for waiter in waiters {
      guard let token = record?.token(waiter.key), call == nil || call?.key == waiter.key else {
        remaining.append(waiter)
        continue
      }
      let isAfterAsking = (call?.number ?? 0) > waiter.callsBefore
      if token.fingerprint == waiter.rejected {
        guard isAfterAsking else {
          remaining.append(waiter)
          continue
        }
        rejected.insert(token.fingerprint)
        let until = now.bootSeconds + ForcedRefreshBudget.windowSeconds
        unchanged = (token.fingerprint, until)
        actions += [.publish, .refuse(waiter.id, tokenUnchanged(retryAfter: ForcedRefreshBudget.windowSeconds))]
      } else if waiter.force && !isAfterAsking {
        remaining.append(waiter)
      } else if suffices(token, for: waiter, at: now) || isAcceptable(token, for: waiter, at: now) {
        actions.append(.deliver(waiter.id, token))
      } else {
        let most = Int(max(0, token.remaining(at: now) ?? 0))
        actions.append(
          .refuse(
            waiter.id,
            AgentFailure(
              .validityUnattainable, "\(name): a new token lives only \(most) s",
              hint: "ask for less, or with best_effort",
              maximumValiditySeconds: most)))
      }
    }
    waiters = remaining
    return actions
  }

  private func unavailable(at now: Moment) -> AgentFailure {
    AgentFailure(
      .unavailable, "\(name): \(backoff.reason ?? "the server could not be asked")",
      retryAfterMilliseconds: backoff.askWaitMilliseconds(at: now.bootSeconds))
  }

  private func host(of binding: DefinitionBinding) -> String { binding.issuerHost }
}
