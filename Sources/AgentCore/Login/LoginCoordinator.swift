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
  var starting: [String: Task<Result<LoginStarted, AgentFailure>, Never>] = [:]
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

  package func start(_ request: LoginStart) async throws(AgentFailure) -> LoginStarted {
    guard (1...64).contains(request.requestID.utf8.count) else {
      throw AgentFailure(.badRequest, "request_id has 1 to 64 bytes")
    }
    _ = try LoginWishes(request)
    let account = request.account
    let known = sessions.values.first {
      $0.definition.name == account && $0.requestIDs.contains(request.requestID)
    }
    if let known { return withLink(known.id, known.started) }
    if let pending = pending(account) { return try await joinOther(pending.id, request, pending.started) }
    if let begun = starting[account] {
      let started = try await begun.value.get()
      return try await joinOther(started.loginID, request, started)
    }
    let task = Task { await self.beginAlone(request) }
    starting[account] = task
    let started = try await task.value.get()
    return join(started.loginID, request, started)
  }

  /// Joins a login that somebody else began. One that was begun with another definition than the account has now makes
  /// place for this one: nobody here has seen where it goes. So does one with other wishes that nobody waits for any more.
  /// Throws where it goes elsewhere than was agreed to here.
  private func joinOther(
    _ id: String, _ request: LoginStart, _ started: LoginStarted
  ) async throws(AgentFailure) -> LoginStarted {
    let name = request.account
    let wishes = try LoginWishes(request)
    let now = await service.definitionNow(name)
    // What was given for this login is not that of the one under way.
    let hasSecrets = request.secretsID != nil
    let isOther = hasSecrets || wishes != LoginWishes() && wishes != sessions[id]?.wishes
    if let session = sessions[id], session.isPending {
      let isFromBefore = now.map { $0 != session.definition } ?? false
      if isFromBefore || isOther && isDeserted(session) {
        let (which, why) =
          isFromBefore ? (" from before its file was changed", "its file was changed") : ("", "nobody waited for it")
        guard !session.isReceiving else {
          throw AgentFailure(.loginPending, "\(name): a login\(which) is being finished", hint: "try again")
        }
        end(id, .failure(AgentFailure(.loginCancelled, "\(name): \(why), and another login has begun")))
        return try await start(request)
      }
      guard !isOther else {
        if hasSecrets { await service.forgetSecrets(of: name, for: request.secretsID) }
        throw AgentFailure(
          .loginPending, "\(name): another login is under way, begun with other \(hasSecrets ? "secrets" : "options")",
          hint: .run("oauthctl login \(name)   # joins that one: finish it there, or give it up with Control-C"))
      }
    } else if isOther {
      // It has ended meanwhile.
      return try await start(request)
    }
    if let agreed = request.bindingDigest, agreed != sessions[id]?.agreement {
      throw AgentFailure.changedMeanwhile(request.account)
    }
    try sessions[id]?.definition.check(isShown: request.definitionDigest)
    return join(id, request, started)
  }

  /// Remembers that `request` was answered with this login, so that it can be repeated.
  private func join(_ id: String, _ request: LoginStart, _ started: LoginStarted) -> LoginStarted {
    if let count = sessions[id]?.requestIDs.count, count < LoginSession.rememberedRequests {
      sessions[id]?.requestIDs.insert(request.requestID)
    }
    return withLink(id, started)
  }

  /// The one beginning of an account's login; ends it in `starting` itself, before anybody who waits goes on.
  private func beginAlone(_ request: LoginStart) async -> Result<LoginStarted, AgentFailure> {
    defer {
      starting[request.account] = nil
      departures[request.account] = nil
    }
    return await begin(request)
  }

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
