import AgentWire

/// Waiting between failed attempts: 1 s, doubled up to 5 min, each spread by ±25 %, the first too; a server's
/// `Retry-After` (at most 1 h) wins over it.
package struct Backoff: Sendable, Equatable {
  /// Seconds of the first wait: a server that restarts is back within seconds.
  package static let firstSeconds = 1.0
  /// Seconds of the longest wait: a server that is down for long is asked every five minutes.
  package static let lastSeconds = 300.0
  /// A longer `Retry-After` is more likely a mistake than a plan.
  package static let retryAfterLimitSeconds = 3_600.0
  /// Somebody who asks does not wait out a long back-off: after this many seconds an attempt is made for them.
  package static let askSeconds = 5.0

  /// Failures in a row.
  package private(set) var failures = 0
  /// Boot time of the next attempt made by plan, and of the next one made because somebody asks.
  package private(set) var plannedAt: Double?
  package private(set) var askedAt: Double?
  /// Why, for people.
  package private(set) var reason: String?
  /// What only a person can mend. It is tried again all the same: nobody tells when it is mended.
  package internal(set) var fault: Fault?
  /// What helps against a fault of the storage, where the storage has said it.
  var hint: NextStep?

  package enum Fault: Sendable, Equatable { case installation, authority, certificate, storage }

  package init() {}

  /// Notes a failure at boot time `now`. `spread` is a random number in 0..<1; `least` is a floor in seconds.
  package mutating func fail(
    _ reason: String, at now: Double, spread: Double, retryAfterSeconds: Double? = nil, least: Double = 0
  ) {
    let doubled = Self.firstSeconds * Double(1 << min(failures, 9))
    let wait = max(min(doubled, Self.lastSeconds), least) * (0.75 + 0.5 * spread)
    failures += 1
    self.reason = reason
    (fault, hint) = (nil, nil)
    if let retryAfterSeconds {
      let told = min(max(retryAfterSeconds, 0), Self.retryAfterLimitSeconds)
      plannedAt = now + max(told, wait)
      askedAt = now + max(told, min(wait, Self.askSeconds))
    } else {
      plannedAt = now + wait
      askedAt = now + min(wait, Self.askSeconds)
    }
  }

  package mutating func succeed() { self = Backoff() }

  /// Milliseconds until somebody who asks is served by a new attempt; nil: at once.
  package func askWaitMilliseconds(at now: Double) -> Int? {
    guard let askedAt, askedAt > now else { return nil }
    return Int(((askedAt - now) * 1_000).rounded(.up))
  }
}

/// How often refreshes may be forced by rejected tokens: a burst of three, then one in 30 s. An API that answers 401 for
/// want of rights costs no more than that.
package struct ForcedRefreshBudget: Sendable, Equatable {
  /// Refreshes that may be forced at once: a few tools that find one dead token need no more.
  package static let burst = 3.0
  /// Then one in so many seconds: 120 an hour are no load for a server.
  package static let windowSeconds = 30.0

  private var level = ForcedRefreshBudget.burst
  private var at: Double?

  package init() {}

  /// Takes one at boot time `now`; nil: taken, else the milliseconds until there is one.
  package mutating func take(at now: Double) -> Int? {
    if let at { level = min(Self.burst, level + (now - at) / Self.windowSeconds) }
    at = now
    guard level >= 1 else { return Int(((1 - level) * Self.windowSeconds * 1_000).rounded(.up)) }
    level -= 1
    return nil
  }

  /// What was taken brought neither a token nor a refusal: in an outage the back-off alone decides when to ask.
  package mutating func giveBack() { level = min(Self.burst, level + 1) }
}
