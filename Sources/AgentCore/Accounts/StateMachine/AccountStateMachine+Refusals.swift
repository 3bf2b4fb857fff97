import AgentWire
import OAuthProtocol

/// What a server's refusal of a request for a token means for the account (RFC 6749 §5.2).
extension AccountStateMachine {
  /// The server said `error`.
  mutating func refused(
    _ next: inout AccountRecord, _ call: TokenCall, _ error: OAuthError, at now: Moment, random: Double
  ) -> Outcome {
    let host = host(of: call.binding)
    if call.isLent, error.mayMeanLentToken {
      // What was refused is another account's, which lends a new one now. No login here has ended by it.
      isLentAnew.toggle()
      if isLentAnew { return .undecided }
    }
    switch error.meaning {
    case .grantRefused where !call.isLent:
      if call.rotates, let other = next.grant?.otherRefreshToken {
        // Two requests were answered, and the server has dropped the refresh token of the one that was kept first.
        next.grant?.refreshToken = other
        next.grant?.otherRefreshToken = nil
        return .undecided
      }
      if let login = login(insteadOf: call, next, at: now) { return .again(login) }
      let what = call.rotates ? "refused the refresh token" : "refused the login"
      // While an access token lives nothing is lost by asking once more, after its end, before it is believed.
      let isFirst = call.rotates && next.grant?.verdict?.oauthError != error.code
      let outcome = decide(
        &next, .loginRequired, "\(host) \(what) (\(error.code))\(Self.detail(error.explanation))", error)
      if isFirst, lastEnd(of: next, at: now) > now.bootSeconds { next.grant?.verdict?.isUnconfirmed = true }
      return outcome
    case .clientRefused:
      backoff.fail(error.code, at: now.bootSeconds, spread: random, least: Self.probeSeconds)
      return decide(
        &next, .clientRejected,
        "\(host) rejects the client (\(error.code))\(Self.detail(error.explanation, of: error.code))", error)
    case .requestRefused, .transient, .grantRefused:
      let reason = "\(host) answered \(error.code)"
      if call.rotates, call.key == .standard, Self.isVague(error.code) {
        let outcome = doubt(&next, call, reason, at: now, random: random)
        guard case .failed(var failure) = outcome else { return outcome }
        failure.oauthError = error.code
        failure.oauthErrorDescription = error.explanation
        return .failed(failure)
      }
      let failure = AgentFailure(
        .serverRefused,
        "\(name): \(host) refused to give a token (\(error.code))\(Self.detail(error.explanation, of: error.code))",
        hint: error.explanation.map { "the server says: \($0); look at: oauthctl account show \(name)" }
          ?? .run("oauthctl account show \(name)"),
        oauthError: error.code, oauthErrorDescription: error.explanation)
      guard call.key == .standard else {
        noteRefused(call.key, failure, at: now)
        return .keyRefused(failure)
      }
      backoff.fail(reason, at: now.bootSeconds, spread: random, least: Self.refusedSeconds)
      return .failed(failure)
    }
  }

  /// What a server's words beside its code say, where that is known, else what the code says.
  private static func detail(_ description: String?, of error: String? = nil) -> String {
    let advice = error.map { ErrorAdvice(code: $0, explanation: description) } ?? ErrorAdvice.detailed(by: description)
    return advice.map { ": \($0.sentence)" } ?? ""
  }

  /// Whether some servers use this error for a dead refresh token, too.
  private static func isVague(_ error: String) -> Bool { error == "invalid_request" || error == "invalid_token" }

  /// A refusal that does not say what is wrong. Several of them over some time are taken for the end of the login; what
  /// could log in again without a person is tried then.
  mutating func doubt(
    _ next: inout AccountRecord, _ call: TokenCall, _ reason: String, at now: Moment, random: Double
  ) -> Outcome {
    refusalsWithoutReason += 1
    let first = firstRefusalWithoutReason ?? now.bootSeconds
    firstRefusalWithoutReason = first
    let isEnough =
      next.grant?.verdict?.isUnconfirmed == true
      || refusalsWithoutReason >= Self.unconfirmedRefusals && now.bootSeconds - first >= Self.unconfirmedSeconds
    backoff.fail(reason, at: now.bootSeconds, spread: random, least: isEnough ? Self.probeSeconds : 0)
    guard isEnough else {
      return .failed(unavailable(at: now))
    }
    if let login = login(insteadOf: call, next, at: now) { return .again(login) }
    let outcome = decide(&next, .loginRequired, "\(reason), again and again (unconfirmed)", nil)
    next.grant?.verdict?.isUnconfirmed = true
    return outcome
  }

  /// Remembers a key that the server refuses, so that asking again uses up no refresh token. Bounded: the oldest go first.
  private mutating func noteRefused(_ key: TokenKey, _ failure: AgentFailure, at now: Moment) {
    refusedKeys = refusedKeys.filter { $0.value.until > now.bootSeconds }
    while refusedKeys.count >= TokenKey.limit, let oldest = refusedKeys.min(by: { $0.value.until < $1.value.until }) {
      refusedKeys[oldest.key] = nil
    }
    refusedKeys[key] = (failure, now.bootSeconds + Self.refusedSeconds)
  }

  private func decide(
    _ next: inout AccountRecord, _ kind: GrantVerdict.Kind, _ reason: String, _ error: OAuthError?
  ) -> Outcome {
    let verdict = GrantVerdict(kind, reason, oauthError: error?.code, oauthErrorDescription: error?.explanation)
    next.grant?.verdict = verdict
    return .failed(failure(verdict))
  }
}
