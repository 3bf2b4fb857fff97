package import OAuthProtocol
import Synchronization

/// Keeps the routes of requests, and answers each with nothing.
package final class RecordingTransport: HTTPTransport {
  private let state = Mutex<[HTTPRoute]>([])

  package init() {}

  package var routes: [HTTPRoute] { state.withLock { $0 } }

  package func perform(_ request: HTTPRequest, route: HTTPRoute) async -> HTTPOutcome {
    state.withLock { $0.append(route) }
    return .answered(HTTPAnswer(status: 204))
  }
}
