import OAuthProtocol
import Sealing

/// What follows when a refresh token was sent and no answer came: the server may have used it up, and nobody can know.
///
/// It is sent once more at once, within the server's reuse window where one is known. When that brings no answer either,
/// callers get `login_required`, unconfirmed, and the refresh token stays: a third sending loses nothing that is not
/// lost already, for if one of the two was acted on the successor is gone, and if none was the token still works. So it is
/// tried again when the last access token has ended, and then with a growing wait. Only the server's word ends a login.
extension AccountStateMachine {
  /// Sendings of one refresh token before its account counts as ambiguous: the first, and one that a grace period
  /// answers.
  static let attempts = 2
  /// Seconds to the first try after that, doubled with each: an outage is often over by then.
  static let firstUnconfirmedSeconds = 15.0
  /// The longest wait between such tries, in seconds: hourly, since the server most likely has ended the login.
  static let lastUnconfirmedSeconds = 3_600.0

  /// Seconds in which the server takes a refresh token a second time; nil: not known.
  var reuseGraceSeconds: Double? { definition?.reuseGraceSeconds }

  /// Whether the answers to what was sent are lost, it may not simply be sent again, and that was not decided yet.
  func isAmbiguous(_ record: AccountRecord, at now: Moment) -> Bool {
    guard let intent = record.intent, let grant = record.grant, !grant.needsLogin,
      let token = tokenGrant(record, grant)?.refreshToken, intent.isAbout(token)
    else { return false }
    return !maySendAgain(intent, at: now)
  }

  /// Whether that is to be decided now. While the server rejects the client nothing would be sent anyway, and that is
  /// what has to be mended first.
  func isToBeGivenUp(_ record: AccountRecord, at now: Moment) -> Bool {
    let isWaiting = record.grant?.verdict?.kind == .clientRejected && (backoff.plannedAt ?? 0) > now.bootSeconds
    return !isWaiting && isAmbiguous(record, at: now)
  }

  func maySendAgain(_ intent: RefreshIntent, at now: Moment) -> Bool {
    guard intent.attempt < Self.attempts, definition?.ambiguousRetry != .never else { return false }
    return reuseGraceSeconds.map { now.longestElapsed(since: intent.first ?? intent.at) < $0 } ?? true
  }

  /// Whether the refresh token of a lost request is sent again at once, so that whoever asks waits for it. Where the server
  /// has answered since, and decided nothing, it is sent again after the ordinary back-off.
  func isSentAgainSoon(_ record: AccountRecord, at now: Moment) -> Bool {
    record.intent != nil && (isHeldByServer || backoff.askWaitMilliseconds(at: now.bootSeconds) == nil)
  }

  /// Decides that the account needs a login, as far as anybody can know. What the server said of the grant stays the
  /// reason.
  mutating func giveUpAmbiguous(_ record: AccountRecord, at now: Moment) -> [Action] {
    var next = record
    var verdict =
      record.grant?.verdict.flatMap { $0.kind == .loginRequired ? $0 : nil }
      ?? GrantVerdict(
        .loginRequired, "the answer to a refresh was lost, so its refresh token may be used up (unconfirmed)")
    verdict.isUnconfirmed = true
    next.grant?.verdict = verdict
    let outcome = Outcome.failed(failure(verdict))
    if next == record { return settle(nil, outcome, at: now) + proceed(at: now) }
    return save(next, for: .answer(nil, outcome))
  }

  /// The boot time of the next try while a login seems to be needed and the server has not said so; nil: none is made.
  func unconfirmedTry(_ record: AccountRecord, at now: Moment) -> Double? {
    let end = lastEnd(of: record, at: now)
    if let intent = record.intent {
      guard definition?.ambiguousRetry != .never else { return nil }
      let doubled = Self.firstUnconfirmedSeconds * Double(1 << min(max(intent.attempt - Self.attempts, 0), 8))
      return max(end, boot(min(doubled, Self.lastUnconfirmedSeconds), after: intent.at, now))
    }
    // A refusal that came while an access token lived.
    if record.grant?.verdict?.oauthError != nil { return max(end, now.bootSeconds) }
    return backoff.plannedAt ?? now.bootSeconds
  }

  /// Boot time at which the last access token of known life ends; minus infinity where there is no such token.
  func lastEnd(of record: AccountRecord, at now: Moment) -> Double {
    record.tokens.compactMap { $0.endBootSeconds(at: now) }.max() ?? -.infinity
  }
}

extension RefreshIntent {
  func isAbout(_ token: Secret) -> Bool { fingerprint == Fingerprint(of: token).description }

  /// The same refresh token is sent once more.
  func again(at now: Moment) -> RefreshIntent {
    var next = self
    next.first = first ?? at
    next.attempt += 1
    next.at = now
    return next
  }

  /// Without the last `sendings`, which were not lost; nil: there was no other.
  func withdrawn(_ sendings: Int) -> RefreshIntent? {
    guard attempt > sendings else { return nil }
    var before = self
    before.attempt -= sendings
    return before
  }
}
