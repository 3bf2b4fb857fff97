import AgentWire
import OAuthProtocol
import OAuthTerms

extension AccountStateMachine {
  mutating func ask(_ waiter: Waiter, at now: Moment) -> [Action] {
    noteAsked(now.bootSeconds)
    guard isAllowed(waiter.key) else { return [.refuse(waiter.id, notAllowed)] }
    var waiter = waiter
    waiter.callsBefore = calls
    var actions: [Action] = []
    if let fingerprint = waiter.rejected, isCurrent(fingerprint) {
      if let wait = refusesNewTokens(waiter.place, fingerprint, at: now) {
        return [.refuse(waiter.id, rightsAreMissing(at: waiter.place, wait))]
      }
      actions += mark(fingerprint)
    }
    switch consider(waiter, at: now) {
    case .deliver(let token): return actions + [.deliver(waiter.id, token)]
    case .refuse(let failure):
      return actions + [.refuse(waiter.id, failure)] + (actions.isEmpty ? [] : proceed(at: now))
    case .wait:
      waiters.append(waiter)
      return actions + proceed(at: now)
    }
  }

  mutating func reject(_ fingerprint: Fingerprint, at place: String?, now: Moment) -> [Action] {
    guard let record, !record.tokens.isEmpty else { return [.judged(.unknown)] }
    guard isCurrent(fingerprint) else { return [.judged(.superseded)] }
    if refusesNewTokens(place, fingerprint, at: now) != nil { return [.judged(.kept)] }
    return [.judged(.marked)] + mark(fingerprint) + proceed(at: now)
  }

  /// A record whose login is over knows which of its tokens were rejected: no successor comes, and the next agent has to know
  /// it, too.
  func withRejections(_ record: AccountRecord) -> AccountRecord {
    guard !rejected.isEmpty, record.grant?.needsLogin == true else { return record }
    var record = record
    for index in record.tokens.indices where isRejected(record.tokens[index]) { record.tokens[index].isRejected = true }
    return record
  }

  /// Notes that the current token was refused at `place`. The milliseconds for which that is no reason to refresh, since
  /// a new token was refused there just as well; nil: it is one.
  private mutating func refusesNewTokens(_ place: String?, _ fingerprint: Fingerprint, at now: Moment) -> Int? {
    guard let place, let token = record?.tokens.first(where: { $0.fingerprint == fingerprint }) else { return nil }
    return rejectingResources.refused(
      fingerprint, age: now.elapsed(since: token.received), at: place, now: now.bootSeconds)
  }

  private mutating func mark(_ fingerprint: Fingerprint) -> [Action] {
    guard rejected[fingerprint] == nil else { return [] }
    rejected[fingerprint] = calls
    return [.publish]
  }

  /// The tokens that may be handed out without asking the machine, until their life is over.
  package var ready: [TokenRecord] {
    lenderFault == nil ? (record?.tokens ?? []).filter { !isRejected($0) } : []
  }

  package var isDefinitionChanged: Bool { !differences.isEmpty }

  /// Whether its private authority is not the one that was agreed to, or not there. Nobody tells when that changes back.
  var isAuthorityChanged: Bool {
    definition?.certificateAuthorityFile != nil
      && (backoff.fault == .authority || differences.contains { $0.key == DefinitionBinding.authorityContent })
  }

  // MARK: Rules

  /// What a waiter gets at once.
  enum Decision {
    case deliver(TokenRecord)
    case refuse(AgentFailure)
    case wait
  }

  func isCurrent(_ fingerprint: Fingerprint) -> Bool {
    record?.tokens.contains { $0.fingerprint == fingerprint } ?? false
  }

  /// Most accounts have no rejected token, and a fingerprint is a hash.
  func isRejected(_ token: TokenRecord) -> Bool { !rejected.isEmpty && rejected[token.fingerprint] != nil }

  /// Serves from what is there, refuses what cannot be met, or lets it wait for a refresh.
  private mutating func consider(_ waiter: Waiter, at now: Moment) -> Decision {
    guard let record, let grant = record.grant else { return .refuse(loginRequired("not logged in")) }
    let token = record.token(waiter.key)
    let isRejected = token.map { self.isRejected($0) } ?? false
    if let token, !isRejected, !waiter.force, suffices(token, for: waiter, at: now) { return .deliver(token) }
    let fallback = token.flatMap { !isRejected && !waiter.force && isAcceptable($0, for: waiter, at: now) ? $0 : nil }
    func orElse(_ failure: AgentFailure) -> Decision { fallback.map { .deliver($0) } ?? .refuse(failure) }

    if let obstacle { return orElse(obstacle) }
    if let verdict = grant.verdict, !mayBeOver(verdict, record, force: waiter.force, at: now) {
      return orElse(failure(verdict, isForced: waiter.force, at: now))
    }
    if let token, !isRejected, !waiter.force, let failure = unattainable(token, for: waiter, at: now) {
      return orElse(failure)
    }
    guard tokenGrant(record, grant) != nil else { return orElse(loginRequired("the server gave no refresh token")) }
    if let unsaved = storageFailure() { return orElse(unsaved) }
    if let refused = refusedKeys[waiter.key], refused.until > now.bootSeconds { return orElse(refused.failure) }
    if !isIdle || isSentAgainSoon(record, at: now) {
      // A rejected token joins what is under way; a blind force starts another call after it, one for all who force.
      let isAnotherWanted = waiter.force && !waiters.contains { $0.force && $0.callsBefore == calls }
      if isAnotherWanted, let wait = budget.take(at: now.bootSeconds) { return .refuse(rateLimited(wait)) }
      return .wait
    }
    if backoff.askWaitMilliseconds(at: now.bootSeconds) != nil { return orElse(unavailable(at: now)) }
    if let heldBack = heldBack(at: now) { return orElse(heldBack) }
    // Others may wait for a refresh that has not got its place yet: whoever comes meanwhile joins them.
    let joins = waiters.contains { $0.key == waiter.key && (!waiter.force || $0.force && $0.callsBefore == calls) }
    // A token near its end is refreshed anyway, so it does not count as forced.
    let isDue = token.map { isNearItsEnd($0, at: now) } ?? true
    if !joins, waiter.force || isRejected && !isDue {
      // When one API answers 401, only who was told so loses the token, not everybody.
      func orGive(_ failure: AgentFailure) -> Decision {
        guard let token, isNoneOfTheirs(token, waiter, at: now) else { return .refuse(failure) }
        return .deliver(token)
      }
      if let unchanged, unchanged.until > now.bootSeconds, token?.fingerprint == unchanged.fingerprint {
        return orGive(tokenUnchanged(retryAfter: unchanged.until - now.bootSeconds))
      }
      if let wait = budget.take(at: now.bootSeconds) { return orGive(rateLimited(wait)) }
    }
    return .wait
  }

  /// Whether the server is asked once more in spite of `verdict`: it rejects the client, and either that is from before a
  /// restart or somebody forces it, who may have mended what was wrong there.
  private func mayBeOver(_ verdict: GrantVerdict, _ record: AccountRecord, force: Bool, at now: Moment) -> Bool {
    guard verdict.kind == .clientRejected else { return false }
    if backoff.plannedAt == nil { return true }
    return force && backoff.askWaitMilliseconds(at: now.bootSeconds) == nil && !isAmbiguous(record, at: now)
  }

  /// Whether `waiter` has seen nothing wrong with `token`, which somebody else had rejected, and it is valid for long
  /// enough.
  func isNoneOfTheirs(_ token: TokenRecord, _ waiter: Waiter, at now: Moment) -> Bool {
    guard !waiter.force, waiter.rejected != token.fingerprint else { return false }
    return suffices(token, for: waiter, at: now) || isAcceptable(token, for: waiter, at: now)
  }

  /// The account's server cannot be reached, or another account lends no token, and it is not the time to try.
  func heldBack(at now: Moment) -> AgentFailure? {
    switch hold {
    case .until(_, let asked, let reason)? where asked > now.bootSeconds:
      AgentFailure(
        .unavailable, "\(name): \(reason)",
        retryAfterMilliseconds: Int(((asked - now.bootSeconds) * 1_000).rounded(.up)))
    case .lender(let failure, _, let asked)? where asked > now.bootSeconds: failure
    case nil, .probing?, .until?, .lender?: nil
    }
  }

  var unsavedReason: String {
    "the new refresh token could not be saved yet: \(backoff.reason ?? "the disk failed")"
  }

  func storageFailure() -> AgentFailure? {
    unsaved.map { _ in
      AgentFailure(
        .storageFailed, "\(name): \(unsavedReason)",
        hint: storageHint ?? "free space on the disk of the vault, or repair it; the agent tries again by itself",
        retryAfterMilliseconds: 1_000)
    }
  }

  /// The grant is of a vault older than what this machine has seen: its refresh token may have been rotated since, and
  /// using it could have the server revoke the grant. Valid tokens are served. One that came after the rollback is not.
  var isRolledBack: Bool {
    guard let rollback, let grant = record?.grant else { return false }
    return grant.afterRollback != rollback
  }

  /// Why nothing may be sent for the grant: what it is bound to is not what the files say, or it may be an old one.
  var obstacle: AgentFailure? {
    if isRolledBack {
      return AgentFailure(
        .vaultDamaged, "\(name): the vault may be an older copy, so its refresh token may be used up",
        hint: .run("oauthctl login \(name)   # or, for all accounts: oauthctl vault accept-rollback"))
    }
    if definition == nil { return AgentFailure(.accountUnknown, "\(name): the account is no longer set up") }
    if let lenderFault { return lenderFault }
    return isDefinitionChanged
      ? definitionChanged
      : clientFault.map { fault in
        AgentFailure(.clientRejected, "\(name): \(fault.reason)", hint: fault.hint)
      }
  }

  /// Why a refresh may not be sent although the file says what the login is bound to: the client secret is another
  /// server's, or the client cannot prove itself with it. The reason is without the account's name.
  var clientFault: (reason: String, hint: NextStep)? {
    guard let record, let binding = record.grant?.binding, binding.sendsClientSecret else { return nil }
    let secret = record.clientSecret(for: binding)
    if record.clientSecret != nil, secret == nil, let place = record.clientSecretBelongs {
      return (
        "its client secret was given for \(place.words), and the login is at \(SecretPlace(binding).words); nothing is sent",
        .run("oauthctl secret set \(name) client_secret")
      )
    }
    return ClientObstacle(binding.clientAuthentication, secret?.secret).map {
      ($0.reason(binding.clientAuthentication), $0.hint(name, binding.clientAuthentication))
    }
  }

  /// Why the kept password is not used.
  var misplacedPassword: String? {
    guard let record, let grant = record.grant, grant.kind.terms.need == .password, record.password != nil,
      record.password(for: grant.binding) == nil
    else { return nil }
    return "the kept password was given for another server than the login's"
  }

  // MARK: Words

  func loginRequired(_ reason: String) -> AgentFailure {
    AgentFailure(.loginRequired, "\(name): login needed: \(reason)", hint: .run("oauthctl login \(name)"))
  }

  /// Without the account's name, as `status` shows it beside the name.
  var definitionChangedReason: String {
    let keys = differences.map(\.key)
    let told = keys.contains("ca_file") ? keys.filter { $0 != DefinitionBinding.authorityContent } : keys
    return "its definition changed since the login (\(told.joined(separator: ", "))); nothing is sent to its server"
  }

  /// Another kind of grant cannot be accepted for this one.
  var definitionChangedHint: NextStep {
    if let hint = lenderFault?.hint { return hint }
    guard let definition, record?.grant?.kind.isUnattended == definition.grant.isUnattended else {
      return .run("oauthctl login \(name)")
    }
    let isContentAlone = differences.allSatisfy { $0.key == DefinitionBinding.authorityContent }
    let file = isContentAlone ? definition.certificateAuthorityFile ?? definition.file : definition.file
    let logIn = "oauthctl login \(name)"
    // A refresh token is the client's that it was given to (RFC 6749 §6): by another one it is refused.
    let isOfAnotherClient = !definition.grant.isUnattended && differences.contains { $0.key == "client_id" }
    let wayOn = isOfAnotherClient ? logIn : "oauthctl account accept \(name)   # or: \(logIn)"
    return "put \(file) back as it was if you did not mean it; else: \(wayOn)"
  }

  var definitionChanged: AgentFailure {
    AgentFailure(.definitionChanged, "\(name): \(definitionChangedReason)", hint: definitionChangedHint)
  }

  /// `isForced`: of somebody who has just done what the hint says otherwise, and has to wait.
  private func failure(_ verdict: GrantVerdict, isForced: Bool, at now: Moment) -> AgentFailure {
    var failure = failure(verdict)
    if isForced, verdict.kind == .clientRejected, let wait = backoff.askWaitMilliseconds(at: now.bootSeconds) {
      failure.hint = ClientHint.ofLogin(
        name, method: record?.grant?.binding.clientAuthentication, waitSeconds: (wait + 999) / 1_000)
    }
    return failure
  }

  func failure(_ verdict: GrantVerdict) -> AgentFailure {
    switch verdict.kind {
    case .loginRequired:
      var failure = loginRequired(verdict.reason)
      failure.oauthError = verdict.oauthError
      failure.oauthErrorDescription = verdict.oauthErrorDescription
      return failure
    case .clientRejected:
      return AgentFailure(
        .clientRejected, "\(name): \(verdict.reason)",
        hint: ClientHint.ofLogin(name, method: record?.grant?.binding.clientAuthentication),
        oauthError: verdict.oauthError, oauthErrorDescription: verdict.oauthErrorDescription)
    }
  }

  private func rateLimited(_ wait: Int) -> AgentFailure {
    AgentFailure(
      .rateLimited, "\(name): too many forced refreshes in a short time",
      hint:
        "try again in \(max(1, (wait + 999) / 1_000)) s; a token that is rejected each time lacks rights",
      retryAfterMilliseconds: wait)
  }

  private func rightsAreMissing(at place: String?, _ wait: Int) -> AgentFailure {
    AgentFailure(
      .rateLimited, "\(name): \(place.map { Escaped.forTerminal($0, limit: 200) } ?? "it") refused a new token too",
      hint: "rights are missing there (see the account's scope), or it takes another account's token",
      retryAfterMilliseconds: wait)
  }

  func tokenUnchanged(retryAfter seconds: Double) -> AgentFailure {
    AgentFailure(
      .tokenUnchanged, "\(name): the server gave the same token again", hint: "the API may want other rights",
      retryAfterMilliseconds: Int((seconds * 1_000).rounded(.up)))
  }
}
