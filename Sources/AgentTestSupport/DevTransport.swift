package import AgentCore
package import DevAuthorizationServer
package import OAuthProtocol
import Synchronization

/// The development server mounted as HTTP transport: no socket, no time passes but the hand clock's.
package final class DevTransport: HTTPTransport {
  private let server: Mutex<DevAuthorizationServer>
  private let time: any TimeKeeper

  package init(_ options: DevServerOptions = DevServerOptions(), time: any TimeKeeper) {
    server = Mutex(DevAuthorizationServer(options))
    self.time = time
  }

  /// Reads or changes the server between requests.
  package func withServer<Result: Sendable>(_ body: (inout DevAuthorizationServer) -> sending Result) -> Result {
    server.withLock { body(&$0) }
  }

  package func perform(_ request: HTTPRequest, route: HTTPRoute) async -> HTTPOutcome {
    let now = time.now().wallSeconds
    let response = server.withLock { $0.respond(to: request, at: now) }
    // A delay holds the answer until the test moves the clock.
    if response.delayMilliseconds > 0 { try? await time.sleep(seconds: Double(response.delayMilliseconds) / 1_000) }
    return response.outcome
  }
}
