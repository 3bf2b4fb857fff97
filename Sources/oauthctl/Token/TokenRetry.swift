import AgentWire
import Glibc
import SystemFacts

/// Asks for a token again after a failure that passes by itself, when the agent says it makes sense: one answer of a
/// proxy in trouble must not fail a script that has time. The agent decides what is sent, so this adds no request to
/// those its own rules allow.
struct TokenRetry {
  /// Milliseconds for whoever named no time: enough for the first repetition, and nobody waits long for a server that is
  /// down.
  static let defaultMilliseconds = 3_000

  /// Monotonic milliseconds, and a sleep.
  var now: () -> Int = MonotonicClock.milliseconds
  var sleep: (Int) -> Void = { usleep(UInt32($0) * 1_000) }

  /// `body` gets the request with the time that is left for it.
  func run<Answer>(
    _ request: TokenGet, _ body: (TokenGet) throws(CommandError) -> Answer
  ) throws(CommandError) -> Answer {
    let end = now() + (request.timeoutMilliseconds ?? Self.defaultMilliseconds)
    do { return try body(request) } catch { return try again(request, until: end, after: error, body) }
  }

  /// Apart from the first asking, which nearly always is the only one: what it does not touch costs no start.
  private func again<Answer>(
    _ request: TokenGet, until end: Int, after first: CommandError,
    _ body: (TokenGet) throws(CommandError) -> Answer
  ) throws(CommandError) -> Answer {
    var (request, last) = (request, first)
    while true {
      guard let wait = Self.wait(after: last), now() + wait < end else { throw last }
      // A little more at random: callers that failed together must not come back together.
      sleep(wait + Int.random(in: 0...max(1, wait / 20)))
      if request.timeoutMilliseconds != nil { request.timeoutMilliseconds = max(1, end - now()) }
      do { return try body(request) } catch {
        // What the repetitions of a forced refresh used up is not what went wrong.
        if case .agent(let failure, _) = error, failure.kind == .rateLimited { throw first }
        last = error
      }
    }
  }

  /// Milliseconds after which asking again may help; nil: it does not.
  private static func wait(after error: CommandError) -> Int? {
    guard case .agent(let failure, _) = error,
      [.unavailable, .storageFailed, .rateLimited, .vaultInUse].contains(failure.kind)
    else { return nil }
    return failure.retryAfterMilliseconds.map { max(1, min($0, WireLimits.timeoutMilliseconds)) }
  }
}
