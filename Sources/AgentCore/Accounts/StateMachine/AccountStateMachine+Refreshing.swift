import AgentWire
import OAuthProtocol
import OAuthTerms

extension AccountStateMachine {
  /// Refusals without a reason that count as a login needed: one or two may be a proxy's or a restart's.
  static let unconfirmedRefusals = 3
  /// Seconds that they must span: longer than a server takes to restart or to be upgraded.
  static let unconfirmedSeconds = 600.0
  /// Seconds between probes while the server rejects the client, or seems to want a login and does not say so: a person
  /// has to mend it, and the probe finds out within the hour.
  static let probeSeconds = 3_600.0
  /// Seconds after which a request that the server refused is made again: whoever puts rights in order waits no longer.
  static let refusedSeconds = 60.0

  /// What a new token can be had with; nil: nothing.
  func tokenGrant(_ record: AccountRecord, _ grant: GrantRecord) -> TokenRequestGrant? {
    grant.refreshToken.map { .refreshToken($0.secret) } ?? unattended(record, grant)
  }

  /// What can be sent instead of a refresh token without a person.
  private func unattended(_ record: AccountRecord, _ grant: GrantRecord) -> TokenRequestGrant? {
    .unattended(
      grant.kind, username: definition?.username, password: record.password(for: grant.binding)?.secret,
      type: grant.binding.request?.grantType)
  }

  /// The call that logs in anew where the refresh token of `call` is dead: the user chose that the agent may.
  mutating func login(insteadOf call: TokenCall, _ record: AccountRecord, at now: Moment) -> TokenCall? {
    guard call.rotates, let grant = record.grant, grant.kind.terms.bringsRefreshToken,
      let kept = unattended(record, grant)
    else { return nil }
    return makeCall(kept, call.key, record, grant, at: now)
  }

  /// Why nothing can be sent for those who wait; nil: something can be sent.
  func cannotSend(at now: Moment) -> AgentFailure? {
    guard let record, let grant = record.grant, tokenGrant(record, grant) != nil else {
      return loginRequired(misplacedPassword ?? "not logged in")
    }
    return obstacle ?? closing ?? heldBack(at: now)
  }

  /// Why nothing is sent any more.
  var closing: AgentFailure? {
    isClosed
      ? AgentFailure(
        .unavailable, "\(name): the agent is stopping", hint: "ask again", retryAfterMilliseconds: 1_000) : nil
  }

  /// Starts the call that it wished for.
  mutating func placed(at now: Moment) -> [Action] {
    guard let wish = wish(at: now), let record, let grant = record.grant, let tokenGrant = tokenGrant(record, grant)
    else { return isIdle ? proceed(at: now) : [] }
    if case .sending(let flight) = phase { return beginSecond(flight, record, at: now) }
    return begin(makeCall(tokenGrant, wish.key, record, grant, at: now), at: now)
  }

  /// Sends `call`, the intent first when it uses a refresh token up.
  mutating func begin(_ call: TokenCall, at now: Moment) -> [Action] {
    guard let token = call.grant.refreshToken, var next = record else { return send(call, at: now) }
    next.intent =
      next.intent.flatMap { $0.isAbout(token) ? $0 : nil }?.again(at: now)
      ?? RefreshIntent(
        fingerprint: Fingerprint(of: token).description, attempt: 1, at: now, endpoint: call.binding.tokenEndpoint)
    return save(next, for: .intent(call))
  }

  /// The token's life counts from here, after the waits for a place and for the disk.
  mutating func send(_ call: TokenCall, at now: Moment) -> [Action] {
    var call = call
    call.started = now
    call.leavesWithinSeconds = windowLeft(at: now)
    phase = .sending(Flight(call))
    return [.send(call)]
  }

  mutating func makeCall(
    _ tokenGrant: TokenRequestGrant, _ key: TokenKey, _ record: AccountRecord, _ grant: GrantRecord, at now: Moment
  ) -> TokenCall {
    calls += 1
    // A refresh without scope asks for the grant's own (RFC 6749 §6); other grants ask anew for the account's.
    let refreshScope = definition?.refreshNamesScope == true ? grant.refreshScope : []
    let ownScope = tokenGrant.refreshToken == nil ? definition?.scope ?? [] : refreshScope
    var call = TokenCall(
      grant: tokenGrant, key: key, scope: key.scope.isEmpty ? ownScope : key.scope,
      resource: key.resource.isEmpty ? definition?.resource ?? [] : key.resource,
      audience: key.audience.isEmpty ? definition?.audience ?? [] : key.audience, binding: grant.binding,
      isLogin: tokenGrant.refreshToken == nil && grant.kind.terms.bringsRefreshToken, loggedIn: grant.loggedIn,
      order: grant.order,
      clientSecret: record.clientSecret(for: grant.binding)?.secret, proofKey: grant.proofKey?.secret, number: calls,
      started: now)
    call.scopeSeparator = definition?.scopeSeparator ?? .blank
    return call
  }

  mutating func callEnded(_ number: UInt64, _ end: TokenCallEnd, at now: Moment, random: Double) -> [Action] {
    if let call = overtaken.removeValue(forKey: number) { return overtook(call, end, at: now) }
    switch phase {
    case .sending(var flight):
      guard let call = flight.end(number) else { return [] }
      guard let (call, end) = flight.decision(call, end) else {
        phase = .sending(flight)
        return []
      }
      return decide(call, end, flight, at: now, random: random)
    case .saving(let candidate, .secondIntent(let second, var flight)):
      // It waits until the intent beside it is durable.
      guard flight.calls.contains(where: { $0.number == number }) else { return [] }
      flight.early.append((number, end))
      phase = .saving(candidate, .secondIntent(second, beside: flight))
      return []
    case .idle, .saving: return []
    }
  }

  private mutating func decide(
    _ call: TokenCall, _ end: TokenCallEnd, _ flight: Flight, at now: Moment, random: Double
  ) -> [Action] {
    guard let record else { return [] }
    phase = .idle
    for open in flight.calls { overtaken[open.number] = open }
    switch end {
    case .notTried(let reason), .notInstalled(let reason), .noAuthority(let reason), .noCertificate(let reason),
      .notSent(let reason):
      isHeldByServer = true
      budget.giveBack()
      backoff.fail(reason, at: now.bootSeconds, spread: random)
      if case .notInstalled = end { backoff.fault = .installation }
      if case .noAuthority = end { backoff.fault = .authority }
      if case .noCertificate = end { backoff.fault = .certificate }
      // The files may have turned out to be others than the call was made by.
      let failure = obstacle ?? unavailable(at: now)
      guard call.rotates else { return settle(call, .failed(failure), at: now) + proceed(at: now) }
      return withdraw(call, failure, sendings: flight.notLost)
    case .sentNoAnswer(let reason):
      isHeldByServer = true
      budget.giveBack()
      backoff.fail(reason, at: now.bootSeconds, spread: random)
      guard call.rotates else { return settle(call, .failed(unavailable(at: now)), at: now) + proceed(at: now) }
      if record.grant?.needsLogin == true || isAmbiguous(record, at: now) { return giveUpAmbiguous(record, at: now) }
      return settle(call, .undecided, at: now) + proceed(at: now)
    case .unproven(let answer, let hasNewNonce):
      isHeldByServer = false
      var next = record
      if call.rotates { next.intent = next.intent?.withdrawn(flight.notLost) }
      guard hasNewNonce, !call.isProvenAnew, let grant = next.grant, mayProveAnew(next, at: now) else {
        return judge(answer.verdict, call, next, at: now, random: random)
      }
      var again = makeCall(call.grant, call.key, next, grant, at: now)
      again.isProvenAnew = true
      return save(next, for: .answer(call, .again(again)))
    case .answered(let answer):
      isHeldByServer = false
      var call = call
      var next = record
      // What was lost before this still counts where the server has said nothing of the grant: the window of reuse, too,
      // counts from the first sending.
      let isUndecided = answer.decidesNothing && record.grant?.needsLogin == false
      next.intent = isUndecided ? next.intent?.withdrawn(call.rotates ? flight.notLost : 0) : nil
      if let clock = answer.serverDateSeconds.map({ ServerClock(dateSeconds: $0, sent: call.started, received: now) }) {
        call.started.behindSeconds = clock.behindSeconds(at: call.started)
      }
      // The answer may be of before the machine stood still.
      let started = call.started.aged(by: now)
      call.isOfBeforePause = started != call.started
      call.started = started
      if let refreshToken = answer.salvagedRefreshToken, next.grant?.kind.terms.bringsRefreshToken != false {
        next.grant?.take(
          refreshToken, received: call.started, lifeSeconds: answer.refreshTokenLifeSeconds,
          parent: call.grant.refreshToken.map { Fingerprint(of: $0).description })
        next.grant?.tokenOrder = order
      } else if call.isLogin, case .granted = answer.verdict {
        // A new login without a refresh token: the old one is of a grant that is over.
        next.grant?.refreshToken = nil
        next.grant?.otherRefreshToken = nil
      }
      return judge(answer.verdict, call, next, at: now, random: random)
    }
  }

  /// Whether the refresh token may be sent at once, by what was sent of it before this sending.
  private func mayProveAnew(_ record: AccountRecord, at now: Moment) -> Bool {
    guard record.grant?.needsLogin == false, let intent = record.intent else { return true }
    return maySendAgain(intent, at: now)
  }

  /// Nothing of `call` left, so its attempt does not count: the intent is as before it. Without a failure the waiters go
  /// on waiting.
  mutating func withdraw(_ call: TokenCall, _ failure: AgentFailure?, sendings: Int = 1) -> [Action] {
    guard var next = record else { return [] }
    next.intent = next.intent?.withdrawn(sendings)
    return save(next, for: .answer(call, failure.map { .failed($0) } ?? .undecided))
  }

  private mutating func judge(
    _ verdict: TokenVerdict, _ call: TokenCall, _ next: AccountRecord, at now: Moment, random: Double
  ) -> [Action] {
    var next = next
    let outcome: Outcome
    switch verdict {
    case .granted(let granted):
      let token = TokenRecord(
        key: call.key, accessToken: granted.accessToken, tokenType: granted.tokenType.rawValue,
        scope: granted.scope ?? (call.scope.isEmpty ? next.grant?.scope ?? [] : call.scope), received: call.started,
        lifeSeconds: granted.lifetime.knownSeconds.map(Double.init))
      next.tokens = tokens(next.tokens, adding: token)
      next.grant?.tokenOrder = order
      next.grant?.refreshed = call.started
      next.grant?.verdict = nil
      next.grant?.takeIdentity(of: granted, call)
      next.grant?.lastAskedWallSeconds = asked.map { now.wallSeconds - (now.bootSeconds - $0) }
      backoff.succeed()
      isLentAnew = false
      refusalsWithoutReason = 0
      firstRefusalWithoutReason = nil
      outcome = .token
    case .refused(let error):
      outcome = refused(&next, call, error, at: now, random: random)
    case .refusedWithoutReason(let status):
      let reason = "\(host(of: call.binding)) refused with status \(status) and no reason"
      outcome = doubt(&next, call, reason, at: now, random: random)
    case .unusable(let problem, let retryAfterSeconds):
      budget.giveBack()
      backoff.fail(
        "the answer of \(host(of: call.binding)) is of no use: \(problem)", at: now.bootSeconds, spread: random,
        retryAfterSeconds: retryAfterSeconds.map(Double.init))
      outcome = .failed(unavailable(at: now))
    }
    if next == record { return settle(call, outcome, at: now) + proceed(at: now) }
    return save(next, for: .answer(call, outcome))
  }

  private func tokens(_ old: [TokenRecord], adding token: TokenRecord) -> [TokenRecord] {
    // A server that kills the old access token with the refresh killed those of the other keys too.
    let kept = definition?.refreshRevokesAccessToken == true ? [] : old.filter { $0.key != token.key }
    let some = (kept + [token]).suffix(TokenKey.limit)
    var left = TokenRecord.limitBytes
    // The newest stays, whatever its size.
    let fitting = some.reversed().prefix { one in
      left -= one.byteCount
      return left >= 0 || one == token
    }
    return fitting.reversed()
  }
}
