import AgentCore
import AgentWire
import FetchWire
import HTTPTerms
import Logging

/// One login's listener: the process that serves its browser, the requests that wait for judgement, and how the login
/// ended. Used on its loop only.
final class RedirectSession {
  /// What it does its work with.
  struct Tools: Sendable {
    let helper: String
    let limits: RedirectLimits
    let socket: LoopbackSocket
    /// What it proves itself with; nil: browsers speak plain HTTP.
    let identity: RedirectIdentity?
    /// Time that closing waits for the browser to fetch the landing page.
    let closeGrace: LoopSpan
    let acceptor: RedirectAcceptor.Place
    let onHit: @Sendable (RedirectHit) async -> RedirectPage
  }

  /// How often a process that ends by itself is started once more: one that ends twice has a reason that stays.
  private static let restarts = 1
  /// Time in which a process must be ready, on a machine however busy, and in which it must have closed its socket.
  private static let startTime = LoopSpan.seconds(60)
  private static let closeTime = LoopSpan.seconds(5)
  private static let hint = NextStep.run("oauthctl doctor   # it tells what is wrong; --device needs no browser here")

  private let tools: Tools
  private let queue: EventQueue
  private let rules: RedirectRules
  private var logger: Logger { tools.acceptor.logger }
  private var link: RedirectLink?
  private var acceptor: RedirectAcceptor?
  /// Told once that browsers are served, with the end of what they are served with, or why not.
  private var started: ((Result<Int?, RedirectListenerError>) -> Void)?
  /// When the certificate ends, in seconds since 1970.
  private var certificateEnd: Int?
  /// What the process has against its certificate.
  private var refusal: RedirectListenerError?
  private var startsLeft = RedirectSession.restarts
  /// The process is started, or its socket is being closed, until then.
  private var timer: EventQueue.Timer?
  private var isListening = true

  private var waiting: [(connection: UInt32, hit: RedirectHit)] = []
  private var isJudging = false
  /// Those whose request has come, and who have no answer.
  private(set) var owed: Set<UInt32> = []
  /// How the login ended; the landing page tells it.
  private var end: RedirectPage?
  private var landingIsFetched = false
  /// Told when nobody can connect any more.
  private var closed: [() -> Void] = []
  private var isFinishing = false
  private var isClosed = false

  init(_ tools: Tools, queue: EventQueue) {
    self.tools = tools
    self.queue = queue
    rules = RedirectRules(port: Int(tools.socket.end.port), scheme: tools.identity == nil ? .http : .https)
  }

  // MARK: The process

  /// `started` gets the end of the certificate (seconds since 1970; nil: there is none) once browsers are served, else the
  /// reason why they are not; then the socket is closed.
  func start(_ started: @escaping (Result<Int?, RedirectListenerError>) -> Void) {
    self.started = started
    startProcess()
  }

  private func startProcess() {
    // Its acceptor and its connections' numbers are its own. It keeps this session until it has ended.
    let link = RedirectLink(
      helper: tools.helper, listener: tools.socket.descriptor, limits: tools.limits,
      certificate: tools.identity.map(RedirectCertificate.init), loop: tools.acceptor.loop, queue: queue
    ) { self.handle($0) }
    self.link = link
    acceptor = RedirectAcceptor(tools.acceptor, queue: queue) { [weak link] in link?.send($1 ? .admit($0) : .refuse($0))
    }
    setTimer(Self.startTime) { link.kill("oauthd-redirect was not ready in time") }
  }

  private func handle(_ event: RedirectLink.Event) {
    switch event {
    case .report(let report): handle(report)
    case .ended(let reason): processEnded(reason)
    }
  }

  private func handle(_ report: RedirectReport) {
    switch report {
    case .ready:
      // Closing has a time of its own.
      if closed.isEmpty { setTimer(nil) }
      tellStarted(.success(certificateEnd))
    case .arrived(let connection, let address, let port):
      acceptor?.ask(connection, from: SocketEnd(host: address, port: Int(port)))
    case .request(let connection, let request): receive(connection, request)
    case .unreadable(let connection, let problem):
      owed.insert(connection)
      answer(connection, RedirectReply(problem))
    case .gone(let connection):
      owed.remove(connection)
      settleIfDone()
    case .closed: tellClosed()
    case .unusable(let problem):
      refusal = tools.identity.map { RedirectListenerError(problem, of: $0) }
      link?.kill(refusal?.message ?? "oauthd-redirect wants a certificate that it was not given")
    case .certificateEnd(let end): certificateEnd = end
    case .failed: break
    }
  }

  /// A process that ends during the login is started once more; then the browser's address is to be pasted. The socket stays
  /// open, unserved: another user who got the port could show an address with a code of his own.
  private func processEnded(_ reason: String) {
    (link, acceptor) = (nil, nil)
    (owed, waiting) = ([], [])
    setTimer(nil)
    guard closed.isEmpty else {
      // Nobody is left to be told anything.
      isFinishing = true
      stopListening()
      return tellClosed()
    }
    if isClosed { return }
    guard started == nil, startsLeft > 0 else {
      if started == nil {
        logger.error(
          "no browser is served any more: after the login, paste the address that it shows",
          metadata: ["event": "redirect_ended", "reason": "\(reason)"])
      } else {
        stopListening()
      }
      tellStarted(.failure(refusal ?? RedirectListenerError(reason, hint: Self.hint)))
      return settleIfDone()
    }
    startsLeft -= 1
    logger.notice(
      "the process that serves the browser of a login ended, and is started again",
      metadata: ["event": "redirect_restarted", "reason": "\(reason)"])
    startProcess()
  }

  private func tellStarted(_ end: Result<Int?, RedirectListenerError>) {
    let started = started
    self.started = nil
    started?(end)
  }

  private func setTimer(_ span: LoopSpan?, _ work: @escaping () -> Void = {}) {
    if let timer { queue.cancel(timer) }
    timer = span.map { queue.schedule(at: queue.now + $0, work) }
  }

  private func stopListening() {
    if isListening { tools.socket.close() }
    isListening = false
  }

  // MARK: Requests

  private func receive(_ connection: UInt32, _ request: RedirectRequest) {
    guard owed.count < tools.limits.connections, owed.insert(connection).inserted else {
      link?.kill("oauthd-redirect passed on more requests than it may")
      return
    }
    switch rules.judge(request, end: end) {
    case .answer(let reply): answer(connection, reply)
    case .landing(let reply):
      landingIsFetched = true
      answer(connection, reply)
    // Those whose browser has gone are judged, too.
    case .ask where waiting.count >= tools.limits.lookups: answer(connection, .busy)
    case .ask(let target):
      waiting.append((connection, RedirectHit(method: request.method, target: target)))
      judgeNext()
    }
  }

  private func answer(_ connection: UInt32, _ reply: RedirectReply) {
    guard owed.remove(connection) != nil else { return }
    link?.send(.answer(connection, reply))
    settleIfDone()
  }

  /// One request at a time, in order.
  private func judgeNext() {
    guard !isJudging, !waiting.isEmpty else { return }
    let (connection, hit) = waiting.removeFirst()
    if end != nil {
      answer(connection, .gone)
      return judgeNext()
    }
    isJudging = true
    let bound = LoopBound((self, link), queue)
    let (loop, onHit) = (tools.acceptor.loop, tools.onHit)
    Task {
      let page = await onHit(hit)
      loop.execute {
        let (session, link) = bound.value(on: $0)
        session.judged(page, connection, from: link)
      }
    }
  }

  private func judged(_ page: RedirectPage, _ connection: UInt32, from process: RedirectLink?) {
    isJudging = false
    switch page {
    case .loggedIn, .asked, .refused: end = page
    case .notFound, .methodNotAllowed, .ignored, .codeRefused, .forward, .linkUsed: break
    }
    // The number of one process is nobody's, or another's, in the next.
    if process === link { answer(connection, RedirectReply(page)) }
    judgeNext()
    settleIfDone()
  }

  // MARK: Closing

  /// Closes when nothing is left to tell the browser: answers are given, and the landing page is fetched if the browser
  /// was sent there. `closed` is called when nobody can connect any more.
  func close(_ closed: @escaping () -> Void) {
    guard !isClosed else { return closed() }
    self.closed.append(closed)
    guard self.closed.count == 1 else { return }
    setTimer(tools.closeGrace) { self.finish() }
    settleIfDone()
  }

  private func settleIfDone() {
    let isTold = (end == nil || landingIsFetched) && owed.isEmpty
    if !closed.isEmpty, isTold || link == nil { finish() }
  }

  /// Gives up waiting. What was answered arrives: the process ends by itself when it has no connection left.
  private func finish() {
    guard !isFinishing else { return }
    isFinishing = true
    stopListening()
    guard let link else { return tellClosed() }
    link.send(.finish)
    setTimer(Self.closeTime) { link.kill("oauthd-redirect did not end") }
  }

  private func tellClosed() {
    guard isFinishing else { return }
    isClosed = true
    let waiting = closed
    closed = []
    for one in waiting { one() }
    guard let link else { return setTimer(nil) }
    let limits = tools.limits
    setTimer(.milliseconds(Int64(2 * (limits.answerMilliseconds + limits.lingerMilliseconds)))) {
      link.kill("oauthd-redirect did not end")
    }
  }
}
