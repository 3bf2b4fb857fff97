import AgentWire
import Glibc

/// Asks again where the agent was too busy to begin (`overloaded`), until the time that a caller has is over. Between two
/// tries lies what the agent says or a little more, at random: callers that were turned away together must not come back
/// together.
struct Overload {
  /// Milliseconds between the first tries, where the agent names none: a burst of callers is mostly over by then.
  private static let firstMilliseconds = 100
  /// The longest pause, in milliseconds: a place that gets free is not left empty for longer.
  private static let mostMilliseconds = 2_000

  private let deadline: Deadline
  private var pause = firstMilliseconds

  init(timeoutMilliseconds: Int) { deadline = Deadline(milliseconds: timeoutMilliseconds) }

  /// Milliseconds that are left for the next try.
  var remainingMilliseconds: Int { Int(deadline.remainingMilliseconds) }

  /// Whether to ask again after `error`, for which it has waited then.
  mutating func waits(after error: ClientError) -> Bool {
    guard case .failure(let failure) = error, failure.kind == .overloaded else { return false }
    let least = min(failure.retryAfterMilliseconds ?? pause, Self.mostMilliseconds)
    let milliseconds = least / 2 + Int.random(in: 0...max(1, least))
    pause = min(2 * pause, Self.mostMilliseconds)
    // With no time left to be answered in, what the agent said says more than a time-out would.
    guard milliseconds < remainingMilliseconds else { return false }
    ClientTrace.tell?("the agent has too much to do: asking again in \(milliseconds) ms")
    usleep(UInt32(milliseconds) * 1_000)
    return true
  }
}

/// Calls `body` with the milliseconds it has, and again while the agent is overloaded; `timeoutMilliseconds` in all.
package func askingAgain<Answer>(
  timeoutMilliseconds: Int, _ body: (Int) throws(ClientError) -> Answer
) throws(ClientError) -> Answer {
  var overload = Overload(timeoutMilliseconds: timeoutMilliseconds)
  var milliseconds = timeoutMilliseconds
  while true {
    do { return try body(milliseconds) } catch {
      guard overload.waits(after: error) else { throw error }
      milliseconds = overload.remainingMilliseconds
    }
  }
}
