import OAuthProtocol
import Sealing

/// The second request within a server's reuse window (`reuse_grace_s`): when the first brought nothing for a while, the
/// same refresh token is sent once more on another connection, and the first stays open. An answer that was swallowed on
/// its way then costs nothing, where a repetition after the window would be taken for theft.
///
/// The first answer with a token, of either kind, is made durable and served. Where the server answers both with
/// different refresh tokens, nobody can tell which of them it will keep: the second is kept beside the first
/// (`otherRefreshToken`) and is used when the server refuses the first.
extension AccountStateMachine {
  /// The most that the second request waits, in seconds: most answers that come at all come before. Half the window
  /// where that is less.
  static let secondSeconds = 15.0

  /// Boot time at which the request under way is sent once more; nil: never, or the time has come.
  func secondTime(_ flight: Flight) -> Double? {
    guard let grace = reuseGraceSeconds, definition?.ambiguousRetry != .never, let first = flight.first,
      first.rotates, !flight.hasSecond, (record?.intent?.attempt ?? Self.attempts) < Self.attempts
    else { return nil }
    return first.started.bootSeconds + min(Self.secondSeconds, grace / 2)
  }

  /// When ``wish(at:)`` changes while a request is under way.
  func secondWake(at now: Moment) -> Double? {
    guard case .sending(let flight) = phase, let time = secondTime(flight), time > now.bootSeconds else { return nil }
    return time
  }

  func secondWish(_ flight: Flight, at now: Moment) -> RequestToSend? {
    guard hold == nil, let first = flight.first, let time = secondTime(flight), time <= now.bootSeconds,
      isInWindow(flight, at: now)
    else { return nil }
    return RequestToSend(
      key: first.key, priority: .caller(deadline: first.started.bootSeconds + (reuseGraceSeconds ?? 0)))
  }

  private func isInWindow(_ flight: Flight, at now: Moment) -> Bool {
    guard let grace = reuseGraceSeconds, let first = flight.first else { return false }
    return now.longestElapsed(since: first.started) + flight.missedSeconds < grace
  }

  /// What is left of the window, in seconds, for a refresh token whose intent says that it is sent again; nil: nothing
  /// ends with the window. Once a login seems to be needed nothing is lost by a later sending.
  func windowLeft(at now: Moment) -> Double? {
    guard let grace = reuseGraceSeconds, let record, record.grant?.needsLogin == false, let intent = record.intent,
      intent.attempt > 1
    else { return nil }
    return max(-1, grace - now.longestElapsed(since: intent.first ?? intent.at))
  }

  /// The intent of the second sending first, as of every other.
  mutating func beginSecond(_ flight: Flight, _ record: AccountRecord, at now: Moment) -> [Action] {
    guard let first = flight.first, let grant = record.grant, let intent = record.intent else { return [] }
    let call = makeCall(first.grant, first.key, record, grant, at: now)
    var next = record
    next.intent = intent.again(at: now)
    return save(next, for: .secondIntent(call, beside: flight))
  }

  /// The intent of the second sending is durable.
  mutating func sendSecond(
    _ call: TokenCall, beside flight: Flight, at now: Moment, random: Double
  ) -> [Action] {
    guard !isClosed, changes.isEmpty, obstacle == nil, flight.early.isEmpty, isInWindow(flight, at: now) else {
      return resume(flight, at: now, random: random)
    }
    var call = call
    var flight = flight
    call.started = now
    call.leavesWithinSeconds = windowLeft(at: now)
    flight.calls.append(call)
    flight.hasSecond = true
    phase = .sending(flight)
    return [.send(call)]
  }

  /// The first request goes on alone, or has ended meanwhile.
  mutating func resume(_ flight: Flight, at now: Moment, random: Double) -> [Action] {
    var alone = flight
    alone.hasSecond = true
    alone.early = []
    phase = .sending(alone)
    return flight.early.flatMap { callEnded($0.number, $0.end, at: now, random: random) }
  }

  /// A request ended after another answer was taken: its refresh token is not thrown away.
  mutating func overtook(_ call: TokenCall, _ end: TokenCallEnd, at now: Moment) -> [Action] {
    // Nobody waits for the change.
    LateToken(call, end).map { change(.lateToken($0), id: 0, at: now) } ?? []
  }
}

/// The requests with one refresh token that are open at once: one, or two within the server's reuse window.
struct Flight: Sendable {
  /// Those that have not ended, the oldest first.
  var calls: [TokenCall]
  /// The best end so far, while another is open.
  private var bestEnd: (call: TokenCall, end: TokenCallEnd)?
  /// Ends that came while the intent of the second was being saved.
  var early: [(number: UInt64, end: TokenCallEnd)] = []
  /// There was a second one, or there will be none.
  var hasSecond = false
  /// Requests that ended and were not lost: they did not leave, or were answered without a token.
  private(set) var notLost = 0

  init(_ call: TokenCall) { calls = [call] }

  /// Several that are open already: no other is sent beside them.
  init(_ first: TokenCall, beside others: some Sequence<TokenCall>) {
    calls = [first] + others
    hasSecond = true
  }

  var first: TokenCall? { calls.first }

  /// Seconds in which the machine stood still since the first was sent, as far as the server has told. What is granted is
  /// dated by its own answer.
  private(set) var missedSeconds = 0.0

  mutating func age(by missed: MissedTime, least: Double) {
    guard let first else { return }
    missedSeconds += max(0, first.started.bootSeconds - missed.aged(first.started, least: least).bootSeconds)
  }

  /// Takes out a call that has ended; nil: it is not one of these.
  mutating func end(_ number: UInt64) -> TokenCall? {
    calls.firstIndex { $0.number == number }.map { calls.remove(at: $0) }
  }

  /// Which end decides; nil: a call that may still bring a token is waited for.
  mutating func decision(_ call: TokenCall, _ end: TokenCallEnd) -> (TokenCall, TokenCallEnd)? {
    // A refresh token without anything else, too: it would be in memory alone until the other request ends.
    if end.isGranted || end.refreshToken != nil { return (call, end) }
    if !end.isLost { notLost += 1 }
    let best = bestEnd.flatMap { $0.end.weight >= end.weight ? $0 : nil } ?? (call, end)
    guard calls.isEmpty else {
      bestEnd = best
      return nil
    }
    return best
  }
}

extension TokenCallEnd {
  fileprivate var refreshToken: Secret? {
    if case .answered(let answer) = self { answer.salvagedRefreshToken } else { nil }
  }

  fileprivate var isLost: Bool { if case .sentNoAnswer = self { true } else { false } }

  /// What says more outweighs what says less.
  fileprivate var weight: Int {
    switch self {
    case .notTried, .notInstalled, .noAuthority, .noCertificate: 0
    case .notSent: 1
    case .sentNoAnswer: 2
    case .unproven: 3
    case .answered: 4
    }
  }
}

/// What an account wants to send, and its place in the order of those who wait.
package struct RequestToSend: Sendable, Equatable {
  package var key: TokenKey
  package var priority: RequestPriority
}
