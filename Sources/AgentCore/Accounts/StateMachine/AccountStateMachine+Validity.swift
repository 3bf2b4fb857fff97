import AgentWire

/// How long a token has to be valid for whoever asks, and what a new one cannot give.
extension AccountStateMachine {
  /// Whether the token is valid for as long as was asked.
  func suffices(_ token: TokenRecord, for waiter: Waiter, at now: Moment) -> Bool {
    guard let remaining = token.remaining(at: now) else { return true }
    var least =
      waiter.minimumValiditySeconds ?? RefreshPlan.defaultMinimumValidity(lifeSeconds: token.lifeSeconds)
    if waiter.bestEffort, let life = token.lifeSeconds { least = min(least, life * RefreshPlan.bestEffortShare) }
    return remaining > 0 && remaining >= least
  }

  func isNearItsEnd(_ token: TokenRecord, at now: Moment) -> Bool {
    guard let remaining = token.remaining(at: now) else { return false }
    return remaining < RefreshPlan.defaultMinimumValidity(lifeSeconds: token.lifeSeconds)
  }

  /// Whether a valid token may be given although it is short of the default, because there is no better one.
  func isAcceptable(_ token: TokenRecord, for waiter: Waiter, at now: Moment) -> Bool {
    (token.remaining(at: now) ?? 1) > 0 && (waiter.minimumValiditySeconds == nil || waiter.bestEffort)
  }

  /// A validity that even a new token would not have, or only one that is newer than this young one.
  func unattainable(_ token: TokenRecord, for waiter: Waiter, at now: Moment) -> AgentFailure? {
    guard let least = waiter.minimumValiditySeconds, let life = token.lifeSeconds,
      let remaining = token.remaining(at: now), remaining > 0
    else { return nil }
    guard least < life || waiter.bestEffort && least == life else {
      // A life counts from the request, so none has all of it left when it comes.
      return validityUnattainable("its tokens live \(Int(life)) s, too short for \(Int(least)) s from now on", life)
    }
    guard remaining > life * RefreshPlan.attainableShare else { return nil }
    return validityUnattainable(
      "its token lives \(Int(remaining)) s more, and is too new to be renewed for \(Int(least)) s", life)
  }

  func validityUnattainable(_ reason: String, _ lifeSeconds: Double) -> AgentFailure {
    let most = RefreshPlan.attainableValidity(lifeSeconds: lifeSeconds)
    return AgentFailure(
      .validityUnattainable, "\(name): \(reason)",
      hint: "ask for at most \(most) s (--min-validity \(most)), or take what there is (--best-effort)",
      maximumValiditySeconds: most)
  }
}
