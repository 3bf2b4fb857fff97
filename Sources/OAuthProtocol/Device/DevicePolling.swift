/// When to poll and when to stop (RFC 8628 §3.4, §3.5). Times are milliseconds of one clock that never jumps; the
/// caller sleeps and sends.
package struct DevicePolling: Sendable {
  package enum Step: Sendable {
    /// Poll at this time, not before.
    case poll(atMilliseconds: Int64)
    /// The caller keeps ``TokenJudgement/salvagedRefreshToken`` first.
    case granted(TokenResponse)
    case stopped(DeviceStop)
  }

  /// Longest pause that failures lead to: a person who has entered the code waits a minute at most.
  private static let backoffLimitMilliseconds: Int64 = 60_000

  /// Grows by 5 s with each `slow_down`, for good.
  package private(set) var intervalMilliseconds: Int64
  /// After this no poll is sent.
  package let deadlineMilliseconds: Int64
  private var failuresInARow = 0

  /// `startedAtMilliseconds` is when the device authorization request was sent.
  package init(_ authorization: DeviceAuthorization, startedAtMilliseconds: Int64) {
    intervalMilliseconds = Int64(authorization.intervalSeconds) * 1_000
    deadlineMilliseconds = startedAtMilliseconds + Int64(authorization.expiresInSeconds) * 1_000
  }

  /// The first poll is one interval after the device authorization answer came.
  package func first(atMilliseconds now: Int64) -> Step { next(after: now, pause: intervalMilliseconds) }

  /// Judges a poll that got an answer.
  package mutating func judge(_ judgement: TokenJudgement, nowMilliseconds now: Int64) -> Step {
    switch judgement.verdict {
    case .granted(let grant): return .granted(grant)
    case .refused(let error):
      switch error.code {
      case "access_denied", "authorization_declined": return .stopped(.denied(error))
      // The second is GitHub's spelling.
      case "expired_token", "token_expired": return .stopped(.expired)
      default: return .stopped(.refused(error))
      }
    case .unusable(.transient(let error), _) where error.code == "authorization_pending":
      failuresInARow = 0
      return next(after: now, pause: intervalMilliseconds)
    case .unusable(.transient(let error), _) where error.code == "slow_down":
      failuresInARow = 0
      // Some servers name the new interval; the longer one holds.
      intervalMilliseconds = min(
        max(intervalMilliseconds + 5_000, Int64(error.intervalSeconds ?? 0) * 1_000), 3_600_000)
      return next(after: now, pause: intervalMilliseconds)
    case .unusable(.tokenType, _), .unusable(.notBound, _), .unusable(.accessTokenMissing, _),
      .unusable(.accessTokenMalformed, _),
      .unusable(.contradictory, _), .unusable(.duplicateMember, _):
      // The grant was made and spoilt: another poll cannot mend it.
      return .stopped(.unusable("\(judgement.verdict)"))
    case .unusable(.status(404), _): return .stopped(.unknownCode)
    case .unusable(_, let wait): return backOff(now, atLeastSeconds: wait ?? 0)
    case .refusedWithoutReason(let status): return .stopped(.refusedWithoutReason(status: status))
    }
  }

  /// A poll without an answer: the pause doubles with each in a row (RFC 8628 §3.5).
  package mutating func noAnswer(nowMilliseconds now: Int64) -> Step { backOff(now, atLeastSeconds: 0) }

  private mutating func backOff(_ now: Int64, atLeastSeconds wait: Int) -> Step {
    failuresInARow = min(failuresInARow + 1, 8)
    let doubled = min(intervalMilliseconds << Int64(failuresInARow), Self.backoffLimitMilliseconds)
    return next(after: now, pause: max(doubled, intervalMilliseconds, Int64(wait) * 1_000))
  }

  private func next(after now: Int64, pause: Int64) -> Step {
    now + pause < deadlineMilliseconds ? .poll(atMilliseconds: now + pause) : .stopped(.expired)
  }
}

/// Why polling ended without a token.
package enum DeviceStop: Error, Sendable, Equatable {
  /// `expired_token`, or the time is up: start again for a new code.
  case expired
  case denied(OAuthError)
  /// 404: the server does not know the device code (any more).
  case unknownCode
  case refused(OAuthError)
  case refusedWithoutReason(status: Int)
  /// A sentence.
  case unusable(String)
}

extension DeviceStop: CustomStringConvertible {
  /// One sentence for people, without secrets and safe to show.
  package var description: String {
    switch self {
    case .expired: "The code was not entered in time; start the login again for a new one."
    case .denied(let error): "Access was denied: \(error.told)."
    case .unknownCode: "The server does not know the code any more; start the login again for a new one."
    case .refused(let error): "The server refused the device login: \(error.told)."
    case .refusedWithoutReason(let status): "The server refused the device login with status \(status) and no reason."
    case .unusable(let sentence): sentence
    }
  }
}
