import AgentWire
import OAuthProtocol

/// What an account's next call is made of that other accounts lend, and how getting it went last. A class: nearly no account
/// has any, and a reference takes a word.
final class Borrowing {
  /// Waits for the call.
  var grant: LentGrant?
  var isUnderWay = false
  /// Why nothing was lent; nil: something was, or nobody has asked.
  private(set) var failure: AgentFailure?
  private var backoff = Backoff()

  /// Nothing was lent at boot time `now`. `spread` is in 0..<1.
  func fail(_ failure: AgentFailure, at now: Double, spread: Double) {
    self.failure = failure
    let told = failure.retryAfterMilliseconds.map { Double($0) / 1_000 }
    backoff.fail(failure.message, at: now, spread: spread, retryAfterSeconds: told)
  }

  /// It was lent, or what kept it from being lent may be over.
  func succeed() {
    failure = nil
    backoff.succeed()
  }

  /// What keeps the account from sending, at boot time `now`; nil: nothing.
  func hold(at now: Double) -> ServerHold? {
    guard var failure, let planned = plannedAt(at: now), let asked = backoff.askedAt else { return nil }
    if failure.kind.isRetryable {
      failure.retryAfterMilliseconds = max(1, Int(((asked - now) * 1_000).rounded(.up)))
    }
    return .lender(failure, planned: planned, asked: asked)
  }

  /// Boot time of the next try by plan, where that is to come.
  func plannedAt(at now: Double) -> Double? { backoff.plannedAt.flatMap { $0 > now ? $0 : nil } }
}

/// A grant made whole by tokens of other accounts.
struct LentGrant: Sendable {
  let grant: TokenRequestGrant
  /// What is asked for with it.
  let key: TokenKey
  /// Boot time at which the first of the tokens ends; nil: not known.
  let endBootSeconds: Double?
  /// What it is made of.
  let tokens: [LentFingerprint]
  /// It is sent only while those who lent for it would lend again.
  let loans: [Loan]

  func fits(_ key: TokenKey, at now: Double) -> Bool {
    self.key == key && endBootSeconds.map { $0 > now } ?? true
  }
}

/// A token that was lent, with what has to be so when it is sent: waiting for a place takes its time.
struct Loan: Sendable {
  let token: LentToken
  /// `GrantRecord.loginID` of the login that lent it.
  let login: String
  /// Where it may go; nil: to the lender's own server.
  let endpoint: String?
}

/// Whose token a call was made with.
package struct LentFingerprint: Sendable, Equatable {
  package let account: String
  package let fingerprint: Fingerprint
}
