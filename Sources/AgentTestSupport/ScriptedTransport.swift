package import OAuthProtocol
import Synchronization

/// Gives one answer after the other, and keeps what it was sent. With none left it answers with status 500.
package final class ScriptedTransport: HTTPTransport {
  package struct Sent: Sendable {
    package var request: HTTPRequest
    package var route: HTTPRoute
  }

  private let state: Mutex<(sent: [Sent], answers: [HTTPOutcome])>
  private let clock: ManualClock
  private let seconds: Double

  /// Each answer takes `seconds` of `clock`.
  package init(_ answers: [HTTPOutcome], clock: ManualClock, seconds: Double = 0) {
    state = Mutex(([], answers))
    self.clock = clock
    self.seconds = seconds
  }

  package var sent: [Sent] { state.withLock { $0.sent } }

  package func perform(_ request: HTTPRequest, route: HTTPRoute) async -> HTTPOutcome {
    clock.advance(by: seconds)
    return state.withLock { state in
      state.sent.append(Sent(request: request, route: route))
      return state.answers.isEmpty ? .answered(HTTPAnswer(status: 500)) : state.answers.removeFirst()
    }
  }
}
