import AgentWire
import Synchronization

/// Requests for tokens that are not ready, on their way from the event loop to the service. One task serves them all, some
/// at a time, and ends when none is left: a task each would take more memory than all else of a caller who waits.
final class TokenRequestQueue: Sendable {
  struct Request: Sendable {
    let line: RequestLine
    let reply: @Sendable (TokenReply) -> Void
  }

  /// Requests that are taken in one turn of the actor, some microseconds each: others come in between.
  static let atOnce = 64

  private struct State {
    var incoming: [Request] = []
    /// The next is the last.
    var taken: [Request] = []
    var isServed = false
  }

  private let state = Mutex(State())

  /// Returns whether nobody serves the desk, which the caller has to see to then.
  func put(_ request: Request) -> Bool {
    state.withLock { state in
      state.incoming.append(request)
      defer { state.isServed = true }
      return !state.isServed
    }
  }

  /// The next requests in the order they came; none: from now on nobody serves the desk.
  func take() -> [Request] {
    state.withLock { state in
      if state.taken.isEmpty {
        state.taken = state.incoming.reversed()
        state.incoming = []
      }
      let next = Array(state.taken.suffix(Self.atOnce).reversed())
      state.taken.removeLast(next.count)
      if next.isEmpty { state = State() }
      return next
    }
  }
}
