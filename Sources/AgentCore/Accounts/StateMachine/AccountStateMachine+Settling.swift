import AgentWire

extension AccountStateMachine {
  /// Tells the waiters of `call` how it ended. A failure that is not about its key alone is everybody's.
  mutating func settle(_ call: TokenCall?, _ outcome: Outcome, at now: Moment) -> [Action] {
    switch outcome {
    case .undecided:
      return []
    case .again(let call):
      if let closing { return refuseAll(closing, at: now) }
      return begin(call, at: now)
    case .failed(let failure):
      return refuseAll(failure, at: now)
    case .keyRefused(let failure):
      let concerned = waiters.filter { $0.key == call?.key }
      waiters.removeAll { $0.key == call?.key }
      return concerned.map { refuse($0, failure, at: now) }
    case .token:
      return settleAll(at: now, call: call)
    }
  }

  /// Serves every waiter that the tokens at hand suffice for; the others go on waiting, except where `call` has just
  /// shown that more cannot be had.
  mutating func settleAll(at now: Moment, call: TokenCall? = nil) -> [Action] {
    var actions: [Action] = []
    var remaining: [Waiter] = []
    for waiter in waiters {
      guard let token = record?.token(waiter.key) else {
        remaining.append(waiter)
        continue
      }
      // Only a call for its own key says anything new to a waiter.
      let number = call?.key == waiter.key ? call?.number : nil
      if let since = callsBeforeRejection(of: token, waiter) {
        if isUnchanged(token, since: since, number, at: now) {
          if isNoneOfTheirs(token, waiter, at: now) {
            actions.append(.deliver(waiter.id, token))
            continue
          }
          actions.append(.refuse(waiter.id, tokenUnchanged(retryAfter: (unchanged?.until ?? 0) - now.bootSeconds)))
        } else {
          remaining.append(waiter)
        }
      } else if waiter.force && (number ?? 0) <= waiter.callsBefore {
        remaining.append(waiter)
      } else if suffices(token, for: waiter, at: now) {
        actions.append(.deliver(waiter.id, token))
      } else if number == nil || call?.isOfBeforePause == true {
        remaining.append(waiter)
      } else if isAcceptable(token, for: waiter, at: now) {
        actions.append(.deliver(waiter.id, token))
      } else {
        let left = max(0, token.remaining(at: now) ?? 0)
        actions.append(
          .refuse(
            waiter.id,
            validityUnattainable("a new token lives only \(Int(left)) s", token.lifeSeconds ?? left)))
      }
    }
    waiters = remaining
    return actions
  }

  /// Which calls had begun when `token` was first known to be rejected; nil: nobody rejected it.
  private func callsBeforeRejection(of token: TokenRecord, _ waiter: Waiter) -> UInt64? {
    rejected[token.fingerprint] ?? (token.fingerprint == waiter.rejected ? waiter.callsBefore : nil)
  }

  /// Whether a refresh after the rejection gave the rejected token again, now or a short while ago.
  private mutating func isUnchanged(_ token: TokenRecord, since: UInt64, _ number: UInt64?, at now: Moment) -> Bool {
    if let number, number > since,
      (unchanged?.until ?? 0) <= now.bootSeconds || unchanged?.fingerprint != token.fingerprint
    {
      unchanged = (token.fingerprint, now.bootSeconds + ForcedRefreshBudget.windowSeconds)
    }
    guard let unchanged else { return false }
    return unchanged.fingerprint == token.fingerprint && unchanged.until > now.bootSeconds
  }

  /// Tells every waiter that there is no new token; a valid one that it would take all the same is given instead.
  mutating func refuseAll(_ failure: AgentFailure, at now: Moment) -> [Action] {
    // A call that was still to be sent for those who force it is not.
    if waiters.contains(where: { $0.force && $0.callsBefore == calls }) { budget.giveBack() }
    defer { waiters = [] }
    return waiters.map { refuse($0, failure, at: now) }
  }

  func refuse(_ waiter: Waiter, _ failure: AgentFailure, at now: Moment) -> Action {
    guard let token = record?.token(waiter.key), !isRejected(token), !waiter.force,
      token.fingerprint != waiter.rejected, isAcceptable(token, for: waiter, at: now)
    else { return .refuse(waiter.id, failure) }
    return .deliver(waiter.id, token)
  }

  func unavailable(at now: Moment) -> AgentFailure {
    switch backoff.fault {
    case .installation?: return .installation("\(name): \(backoff.reason ?? "")")
    case .authority?: return AgentFailure(.configInvalid, "\(name): \(backoff.reason ?? "")", hint: authorityHint)
    case .certificate?:
      return AgentFailure(.clientRejected, "\(name): \(backoff.reason ?? "")", hint: certificateHint)
    // Not the server's fault: what looks after the disk helps.
    case .storage?:
      return AgentFailure(
        .storageFailed, "\(name): \(backoff.reason ?? "")", hint: storageHint,
        retryAfterMilliseconds: backoff.askWaitMilliseconds(at: now.bootSeconds))
    case nil: break
    }
    return AgentFailure(
      .unavailable, "\(name): \(backoff.reason ?? "the server could not be asked")", hint: doubtHint,
      retryAfterMilliseconds: backoff.askWaitMilliseconds(at: now.bootSeconds))
  }

  /// What helps where nothing is sent for want of the private authority.
  var authorityHint: NextStep? {
    guard backoff.fault == .authority else { return nil }
    // A file that is not there can be accepted by nobody.
    let file = definition?.file ?? "\(name).toml"
    return "put the file back as it was; or name another as ca_file in \(file), then: oauthctl account accept \(name)"
  }

  /// What helps where the disk takes nothing, as far as the vault could tell.
  var storageHint: NextStep? { backoff.hint?.map { "\($0); the agent tries again by itself" } }

  /// What helps where the server does not take the client's certificate.
  var certificateHint: NextStep? { backoff.fault == .certificate ? ClientHint.certificate(name) : nil }

  /// What helps if the refusals without a reason go on.
  var doubtHint: NextStep? { refusalsWithoutReason > 0 ? "if it stays so: oauthctl login \(name)" : nil }

  func host(of binding: DefinitionBinding) -> String { binding.issuerHost }
}

extension AgentFailure {
  /// A program of ours that is not there, or is another one.
  static func installation(_ message: String) -> AgentFailure {
    AgentFailure(.internal, message, hint: "install oauthctl again, whole: its programs belong together")
  }
}
