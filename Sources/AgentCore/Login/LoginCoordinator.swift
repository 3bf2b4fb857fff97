package import AgentWire
package import Logging
import OAuthProtocol
package import Sealing

/// Logs accounts in: one pending login per account, shared by all callers.
package actor LoginCoordinator {
  let service: CredentialService
  let redirects: any RedirectReceiver
  let time: any TimeKeeper
  let random: any RandomSource
  let logger: Logger

  var sessions: [String: LoginSession] = [:]
  /// In the order they began.
  var order: [String] = []
  var starting: [String: Beginning] = [:]
  /// Callers who wait for the end of a login, by its id. They are not kept in the session: each of them has a copy of that
  /// while it waits, and would keep all the others with it.
  var waiters: [String: Waiters<EndWaiter>] = [:]
  var lastWaiter: UInt64 = 0
  /// Until the first of them has no patience left.
  var sleep = SharedSleep()
  /// Those that ask a person whether another user may be logged in, by their ids.
  var questions: [String: CheckedContinuation<Bool, Never>] = [:]
  /// The agent stops: nobody is asked any more.
  var asksNobody = false
  /// Logins that are opening their listeners.
  var listenersOpening = 0
  /// Logins that are over and whose listeners are still closing, by their ids.
  var closing: [String: (ports: [Int], end: Task<Void, Never>)] = [:]
  /// Counts the locks: a lock ends every login that was begun before it.
  var epoch = 0
  /// Counts, of accounts whose login is beginning, how often they were logged out or forgotten.
  var departures: [String: Int] = [:]

  package init(
    service: CredentialService, redirects: any RedirectReceiver, time: any TimeKeeper, random: any RandomSource,
    logger: Logger
  ) {
    self.service = service
    self.redirects = redirects
    self.time = time
    self.random = random
    self.logger = logger
  }

  // MARK: Requests

  package func wait(_ request: LoginWait) async throws(AgentFailure) -> LoginProgress {
    let milliseconds = request.timeoutMilliseconds ?? WireLimits.defaultTimeoutMilliseconds
    guard (1...WireLimits.timeoutMilliseconds).contains(milliseconds) else {
      throw AgentFailure(.badRequest, "timeout_ms is 1 to \(WireLimits.timeoutMilliseconds)")
    }
    let session = try session(request.loginID)
    if case .ended(let result) = session.state { return try result.get() }
    var seconds = Double(milliseconds) / 1_000
    // Whoever asks now has not been told of the question; whoever has asks again, and not without pause.
    if session.otherUser != nil { seconds = min(seconds, Self.questionSeconds) }
    let result = await endingUnlessLeft(of: session.id, seconds: seconds)
    return try result.get()
  }

  private static let questionSeconds = 1.0
  /// `login.complete` waits for the token endpoint no longer where nobody says how long, seconds; the login goes on.
  static let completeSeconds = 90.0

  package func complete(_ request: LoginComplete) async throws(AgentFailure) -> LoginProgress {
    let milliseconds = request.timeoutMilliseconds ?? Int(Self.completeSeconds * 1_000)
    guard (1...WireLimits.timeoutMilliseconds).contains(milliseconds) else {
      throw AgentFailure(.badRequest, "timeout_ms is 1 to \(WireLimits.timeoutMilliseconds)")
    }
    let session: LoginSession
    if let id = request.loginID {
      session = try self.session(id)
    } else {
      session = try self.session(returningTo: request.redirectURL)
    }
    if case .ended(let result) = session.state { return try result.get() }
    guard let browser = session.browser else {
      throw AgentFailure(.badRequest, "this login takes no redirect URL")
    }
    let verdict = browser.expectation.judge(pasted: request.redirectURL)
    if case .ignore(let reason) = verdict {
      throw AgentFailure(
        .badRequest,
        "that address does not end this login: \(reason.rawValue)"
          + (reason == .path ? ", which begins with \(browser.redirectURI)" : ""),
        hint: "copy the whole address that the browser ended on")
    }
    // Whoever copies by hand loses the end of it, which may be that of `iss`; what a scheme's handler brings is whole.
    if request.loginID != nil, case .refused(let refusal) = verdict {
      throw AgentFailure(
        .badRequest, "that address does not end this login: \(refusal)",
        hint: "copy the whole address that the browser ended on")
    }
    // Not awaited itself: it may ask the person who is waiting for this answer.
    Task { await judge(verdict, session.id) }
    let result = await ending(of: session.id, seconds: Double(milliseconds) / 1_000)
    if let now = sessions[session.id], case .pending = now.state, now.refusals > session.refusals,
      let failure = now.refusal
    {
      throw AgentFailure(
        .badRequest, failure.message, hint: "open the address of the login again; it goes on",
        oauthError: failure.oauthError, oauthErrorDescription: failure.oauthErrorDescription)
    }
    return try result.get()
  }

  package func cancel(_ request: LoginCancel) async throws(AgentFailure) -> EmptyResult {
    let session = try session(request.loginID)
    let name = session.definition.name
    // Whoever cancels it takes back what it was for, and has to know how it ended.
    if case .keeping = session.state { _ = await ending(of: session.id, seconds: Self.keepingSeconds) }
    switch sessions[session.id]?.state {
    case .keeping:
      throw AgentFailure(
        .loginPending, "\(name): too late to cancel the login: what it has got is still being saved",
        hint: .run("oauthctl account show \(name)"))
    case .ended(.success):
      throw AgentFailure(.loginPending, "\(name): too late to cancel the login: it has been finished")
    case .ended(.failure), nil: return EmptyResult()
    case .pending, .exchanging: break
    }
    // Whoever cancels it does not wait for this.
    var failure = AgentFailure(
      .loginCancelled,
      "\(name): the login was given up; an account has one login under way at a time, so another command may have done it"
    )
    failure.logLine = "given up by who had begun it, or joined it"
    end(session.id, .failure(failure))
    return EmptyResult()
  }

  /// Ends the login of `account` that is under way, since the account is being logged out or forgotten. Tokens that come
  /// all the same are revoked. One whose tokens are being made durable is waited for.
  package func giveUp(_ account: String) async {
    if starting[account] != nil { departures[account, default: 0] += 1 }
    guard let session = pending(account) else { return }
    if case .keeping = session.state {
      _ = await ending(of: session.id, seconds: Self.keepingSeconds)
    } else {
      end(session.id, .failure(AgentFailure(.loginCancelled, "\(account): the login was cancelled")))
    }
  }

  /// Seconds to wait for a login whose tokens are being saved: longer than the vault needs to write.
  private static let keepingSeconds = 10.0

  // MARK: Sessions

  func pending(_ account: String) -> LoginSession? {
    sessions.values.first { $0.definition.name == account && $0.isPending }
  }

  private func session(_ id: String) throws(AgentFailure) -> LoginSession {
    guard let session = sessions[id] else {
      throw AgentFailure(.badRequest, "there is no such login", hint: "start it again")
    }
    return session
  }

  /// Whether the account's login is under way is a part of its state.
  private func note(_ session: LoginSession) {
    let name = session.definition.name
    service.pendingLogins.set(name, session.isPending ? session.binding : nil)
    Task { await service.loginChanged(name, by: session.binding.clientID) }
  }

  /// Throws `vault_locked` where a lock has come since it was begun.
  func add(_ session: LoginSession) throws(AgentFailure) {
    guard session.epoch == epoch else { throw .vaultLocked }
    let name = session.definition.name
    guard session.departures == departures[name, default: 0] else {
      throw AgentFailure(.loginCancelled, "\(name): the login was cancelled")
    }
    sessions[session.id] = session
    note(session)
    order.append(session.id)
    while order.count > LoginSession.remembered, let old = order.first(where: { sessions[$0]?.isPending != true }) {
      sessions[old] = nil
      order.removeAll { $0 == old }
    }
    let id = session.id
    let seconds = Double(session.started.expiresInSeconds)
    run(id) { coordinator in
      do { try await coordinator.time.sleep(seconds: seconds) } catch { return }
      await coordinator.expire(id, name)
    }
  }

  /// The window is over. What may be on its way to us ends the login itself.
  private func expire(_ id: String, _ name: String) {
    guard let session = sessions[id], !session.isReceiving else { return }
    end(
      id,
      .failure(
        session.refusal
          ?? AgentFailure(
            .loginCancelled,
            "\(name): the login was not finished in time"
              + (session.browser.map {
                "; if the browser showed an error, the server may not know the client id or the address \($0.redirectURI)"
              } ?? ""), hint: session.again)))
  }

  /// Runs `body` until the session ends.
  func run(_ id: String, _ body: @escaping @Sendable (LoginCoordinator) async -> Void) {
    sessions[id]?.tasks.append(Task { await body(self) })
  }

  /// Ends a session once; later ends change nothing.
  func end(_ id: String, _ result: Result<LoginProgress, AgentFailure>) {
    guard var session = sessions[id], session.isPending else { return }
    session.state = .ended(result)
    let tasks = session.tasks
    session.tasks = []
    sessions[id] = session
    note(session)
    questions.removeValue(forKey: id)?.resume(returning: false)
    answerWaiters(id, result)
    for task in tasks { task.cancel() }
    var about: Logger.Metadata = [
      "event": "logged_in", "account": "\(session.definition.name)", "issuer": "\(session.binding.issuer)",
    ]
    switch result {
    case .success: logger.info("logged in", metadata: about)
    case .failure(let failure):
      // The line names the account already.
      let reason = failure.logLine ?? failure.message(without: session.definition.name)
      about.merge(["event": "login_failed", "reason": "\(reason)"]) { $1 }
      logger.info("login failed", metadata: about)
    }
    close(session.browser?.listeners ?? [], of: id)
  }
}
