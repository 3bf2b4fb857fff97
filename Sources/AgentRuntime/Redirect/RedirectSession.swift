import AgentCore
import NIOCore
import NIOHTTP1
import OAuthProtocol

/// One login's listener: its connections, the requests that wait for judgement, and how the login ended. Used on its
/// event loop only.
final class RedirectSession {
  let limits: RedirectLimits
  private let eventLoop: any EventLoop
  private let onHit: @Sendable (RedirectHit) async -> RedirectPage
  private var connections: [RedirectConnection] = []
  private var waiting: [(hit: RedirectHit, connection: RedirectConnection)] = []
  private var isJudging = false
  /// How the login ended; the landing page tells it.
  private var end: RedirectPage?
  private var landingIsFetched = false
  private var settled: EventLoopPromise<Void>?
  /// The port that was bound; known before the first request is read.
  var port = 0

  init(
    eventLoop: any EventLoop, limits: RedirectLimits, onHit: @escaping @Sendable (RedirectHit) async -> RedirectPage
  ) {
    self.eventLoop = eventLoop
    self.limits = limits
    self.onHit = onHit
  }

  // MARK: Connections

  /// At the bound the one that has been without a request longest makes room, so that connections that only stand by
  /// keep no browser out.
  func add(_ connection: RedirectConnection) {
    if connections.count >= limits.connections {
      guard let oldest = connections.first(where: { !$0.isOwedAnAnswer }) else { return connection.drop() }
      connections.removeAll { $0 === oldest }
      oldest.drop()
    }
    connections.append(connection)
  }

  func remove(_ connection: RedirectConnection) {
    connections.removeAll { $0 === connection }
    settleIfDone()
  }

  // MARK: Requests

  func receive(_ head: HTTPRequestHead, from connection: RedirectConnection) {
    // Only a plain GET for our own address can end a login.
    guard head.method == .GET else { return connection.answer(.methodNotAllowed) }
    let hosts = head.headers["Host"]
    guard hosts.count == 1, isOurs(hosts[0]) else { return connection.answer(.wrongHost) }
    guard head.uri.hasPrefix("/"), !Self.hasBody(head.headers) else { return connection.answer(.malformed) }
    if let end {
      guard head.uri == RedirectAnswer.landingPath else { return connection.answer(.gone) }
      landingIsFetched = true
      return connection.answer(RedirectAnswer(landing: end))
    }
    waiting.append((RedirectHit(method: head.method.rawValue, target: head.uri, host: hosts[0]), connection))
    judgeNext()
  }

  func answered(_ connection: RedirectConnection) { settleIfDone() }

  /// One request at a time, in order.
  private func judgeNext() {
    guard !isJudging, !waiting.isEmpty else { return }
    let (hit, connection) = waiting.removeFirst()
    if end != nil {
      connection.answer(.gone)
      return judgeNext()
    }
    isJudging = true
    let bound = NIOLoopBound((self, connection), eventLoop: eventLoop)
    let (eventLoop, onHit) = (eventLoop, onHit)
    Task {
      let page = await onHit(hit)
      eventLoop.execute {
        let (session, connection) = bound.value
        session.judged(page, connection)
      }
    }
  }

  private func judged(_ page: RedirectPage, _ connection: RedirectConnection) {
    isJudging = false
    switch page {
    case .loggedIn, .refused: end = page
    case .notFound, .methodNotAllowed, .ignored, .codeRefused, .forward, .linkUsed: break
    }
    connection.answer(RedirectAnswer(page))
    judgeNext()
  }

  /// `localhost`, 127.0.0.0/8 or [::1] with the port that was bound. Another name that resolves to this computer is a
  /// page of somebody else's (DNS rebinding).
  private func isOurs(_ host: String) -> Bool {
    guard let origin = try? Origin(hostEntry: "http://" + host) else { return false }
    return origin.isLoopback && origin.port == port
  }

  private static func hasBody(_ headers: HTTPHeaders) -> Bool {
    headers.contains(name: "Transfer-Encoding") || headers["Content-Length"].contains { $0 != "0" }
  }

  // MARK: Closing

  /// Completes when nothing is left to tell the browser: answers are written, and the landing page is fetched if the
  /// browser was sent there.
  func settle() -> EventLoopFuture<Void> {
    let promise = settled ?? eventLoop.makePromise(of: Void.self)
    settled = promise
    settleIfDone()
    return promise.futureResult
  }

  /// Gives up waiting.
  func settleNow() { settled?.succeed() }

  private func settleIfDone() {
    guard let settled, end == nil || landingIsFetched, !connections.contains(where: \.isOwedAnAnswer) else { return }
    settled.succeed()
  }

  /// Lets written answers arrive: connections that were answered end by themselves within the linger time.
  func dropUnanswered() {
    for connection in connections where !connection.isAnswered { connection.drop() }
  }
}
