import AgentWire
import Sealing

extension AccountStateMachine {
  /// Attempts a refresh token gets when answers are lost: the first, and one more.
  static let attempts = 2
  /// Refusals without a reason, and the seconds they must span, that count as a login needed.
  static let unconfirmedRefusals = 3
  static let unconfirmedSeconds = 600.0
  /// Seconds between probes while the server rejects the client, or seems to want a login and does not say so.
  static let probeSeconds = 3_600.0
  /// Seconds after which a request that the server refused is made again.
  static let refusedSeconds = 60.0

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
    else { return refuseAll(loginRequired("not logged in"), at: now) }
    if let obstacle { return refuseAll(obstacle, at: now) }
    if hold == .probing { return [] }
    if let heldBack = heldBack(at: now) { return refuseAll(heldBack, at: now) }
    return begin(credential, key, record, grant, at: now)
  }

  private mutating func begin(
    _ credential: TokenCall.Credential, _ key: TokenKey, _ record: AccountRecord, _ grant: GrantRecord, at now: Moment
  ) -> [Action] {
    var attempt = 1
    if case .refreshToken(let token) = credential, let intent = record.intent,
      intent.fingerprint == Fingerprint(of: token).description
    {
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
    guard case .sending(var call) = phase, let record else { return [] }
    phase = .idle
    var next = record
    switch end {
    case .notTried(let reason), .notSent(let reason):
      backoff.fail(reason, at: now.bootSeconds, spread: random)
      guard call.rotates else { return settle(call, .failed(unavailable(at: now)), at: now) + proceed(at: now) }
      return withdraw(call, unavailable(at: now))
    case .sentNoAnswer(let reason):
      backoff.fail(reason, at: now.bootSeconds, spread: random)
      guard call.rotates else { return settle(call, .failed(unavailable(at: now)), at: now) + proceed(at: now) }
      guard let intent = record.intent, intent.attempt < Self.attempts, definition?.ambiguousRetry != .never
      else { return giveUpAmbiguous(record) }
      return settle(call, .lost, at: now) + proceed(at: now)
    case .answered(let answer):
      next.intent = nil
      if let clock = answer.dateSeconds.map({ ServerClock(dateSeconds: $0, sent: call.started, received: now) }) {
        call.started.behindSeconds = clock.behindSeconds(at: call.started)
      }
      if let refreshToken = answer.refreshToken, next.grant?.kind != .clientCredentials {
        next.grant?.refreshToken = StoredSecret(refreshToken)
        next.grant?.refreshTokenReceived = call.started
        next.grant?.refreshTokenLifeSeconds = answer.refreshTokenLifeSeconds
      } else if case (.password, .granted) = (call.credential, answer.verdict) {
        // A new login without a refresh token: the old one is of a grant that is over.
        next.grant?.refreshToken = nil
      }
      return judge(answer.verdict, call, next, at: now, random: random)
    }
  }

  /// Nothing of `call` left, so its attempt does not count: the intent is as before it.
  mutating func withdraw(_ call: TokenCall, _ failure: AgentFailure) -> [Action] {
    guard var next = record else { return [] }
    if let intent = next.intent, intent.attempt > 1 {
      next.intent?.attempt = intent.attempt - 1
    } else {
      next.intent = nil
    }
    return save(next, for: .answer(call, .failed(failure)))
  }

  private mutating func judge(
    _ verdict: JudgedAnswer.Verdict, _ call: TokenCall, _ next: AccountRecord, at now: Moment, random: Double
  ) -> [Action] {
    var next = next
    var outcome: Outcome
    switch verdict {
    case .granted(let accessToken, let tokenType, let lifeSeconds, let scope):
      let token = TokenRecord(
        key: call.key, accessToken: accessToken, tokenType: tokenType,
        scope: scope ?? (call.scope.isEmpty ? next.grant?.scope ?? [] : call.scope), received: call.started,
        lifeSeconds: lifeSeconds)
      next.tokens = tokens(next.tokens, adding: token)
      next.grant?.refreshed = call.started
      if case .password = call.credential { next.grant?.loggedIn = call.started }
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
      backoff.fail(error, at: now.bootSeconds, spread: random, least: Self.probeSeconds)
      outcome = decide(
        &next, .clientRejected, "\(host(of: call.binding)) rejects the client (\(error))", error, description)
    case .refused(let error, let description):
      let failure = AgentFailure(
        .serverRefused, "\(name): \(host(of: call.binding)) refused to give a token (\(error))",
        hint: description.map { "the server says: \($0)" }, oauthError: error, oauthErrorDescription: description)
      if call.key == .standard {
        backoff.fail(
          "\(host(of: call.binding)) answered \(error)", at: now.bootSeconds, spread: random,
          least: Self.refusedSeconds)
        outcome = .failed(failure)
      } else {
        noteRefused(call.key, failure, at: now)
        outcome = .keyRefused(failure)
      }
    case .refusedWithoutReason(let reason):
      refusalsWithoutReason += 1
      let first = firstRefusalWithoutReason ?? now.bootSeconds
      firstRefusalWithoutReason = first
      let isEnough =
        next.grant?.verdict?.isUnconfirmed == true
        || refusalsWithoutReason >= Self.unconfirmedRefusals && now.bootSeconds - first >= Self.unconfirmedSeconds
      backoff.fail(reason, at: now.bootSeconds, spread: random, least: isEnough ? Self.probeSeconds : 0)
      if isEnough {
        outcome = decide(&next, .loginRequired, "\(reason), again and again (unconfirmed)", nil, nil)
        next.grant?.verdict?.isUnconfirmed = true
      } else {
        outcome = .failed(unavailable(at: now))
      }
    case .undecided(let reason, let retryAfterSeconds):
      backoff.fail(reason, at: now.bootSeconds, spread: random, retryAfterSeconds: retryAfterSeconds)
      outcome = .failed(unavailable(at: now))
    }
    if next == record { return settle(call, outcome, at: now) + proceed(at: now) }
    return save(next, for: .answer(call, outcome))
  }

  /// Keeps an ask that the server refuses from using up a refresh token each time. Bounded: the oldest go first.
  private mutating func noteRefused(_ key: TokenKey, _ failure: AgentFailure, at now: Moment) {
    refusedKeys = refusedKeys.filter { $0.value.until > now.bootSeconds }
    while refusedKeys.count >= TokenKey.limit, let oldest = refusedKeys.min(by: { $0.value.until < $1.value.until }) {
      refusedKeys[oldest.key] = nil
    }
    refusedKeys[key] = (failure, now.bootSeconds + Self.refusedSeconds)
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
}
