package import AgentWire
package import Logging
package import OAuthProtocol
package import Sealing

/// Logs accounts in: one pending login per account, shared by all callers.
package actor LoginCoordinator {
  let service: CredentialService
  let transport: any HTTPTransport
  let redirects: any RedirectReceiver
  let time: any TimeKeeper
  let random: any RandomSource
  let logger: Logger

  var sessions: [String: LoginSession] = [:]
  /// In the order they began.
  private var order: [String] = []
  private var starting: [String: Task<Result<LoginStarted, AgentFailure>, Never>] = [:]
  private var lastWaiter: UInt64 = 0

  package init(
    service: CredentialService, transport: any HTTPTransport, redirects: any RedirectReceiver, time: any TimeKeeper,
    random: any RandomSource, logger: Logger
  ) {
    self.service = service
    self.transport = transport
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
    let account = request.account
    if let known = sessions.values.first(where: { $0.definition.name == account && $0.requestID == request.requestID })
    {
      return known.started
    }
    if let pending = pending(account) { return pending.started }
    let task = starting[account] ?? Task { await self.begin(request) }
    starting[account] = task
    let result = await task.value
    starting[account] = nil
    return try result.get()
  }

  package func wait(_ request: LoginWait) async throws(AgentFailure) -> LoginProgress {
    let milliseconds = request.timeoutMilliseconds ?? WireLimits.defaultTimeoutMilliseconds
    guard (1...WireLimits.timeoutMilliseconds).contains(milliseconds) else {
      throw AgentFailure(.badRequest, "timeout_ms is 1 to \(WireLimits.timeoutMilliseconds)")
    }
    let session = try session(request.loginID)
    if case .ended(let result) = session.state { return try result.get() }
    let result = await ending(of: session.id, seconds: Double(milliseconds) / 1_000)
    return try result.get()
  }

  package func complete(_ request: LoginComplete) async throws(AgentFailure) -> LoginProgress {
    let session = try session(request.loginID)
    if case .ended(let result) = session.state { return try result.get() }
    guard let browser = session.browser else {
      throw AgentFailure(.badRequest, "this login takes no redirect URL")
    }
    let verdict = browser.expectation.judge(pasted: request.redirectURL)
    if case .ignore(let reason) = verdict {
      throw AgentFailure(
        .badRequest, "that address does not end this login: \(reason.rawValue)",
        hint: "copy the whole address that the browser ended on")
    }
    await judge(verdict, session.id)
    return try await wait(LoginWait(loginID: session.id))
  }

  package func cancel(_ request: LoginCancel) async throws(AgentFailure) -> EmptyResult {
    let session = try session(request.loginID)
    await end(
      session.id, .failure(AgentFailure(.loginCancelled, "\(session.definition.name): the login was cancelled")))
    return EmptyResult()
  }

  /// Waits for the login of `account` that is under way, `seconds` at most; at once when there is none.
  package func settled(_ account: String, seconds: Double) async {
    guard let session = pending(account) else { return }
    _ = await ending(of: session.id, seconds: seconds)
  }

  package func isPending(_ account: String) -> Bool { pending(account) != nil }

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

  func add(_ session: LoginSession) {
    sessions[session.id] = session
    order.append(session.id)
    while order.count > LoginSession.remembered, let old = order.first(where: { sessions[$0]?.isPending != true }) {
      sessions[old] = nil
      order.removeAll { $0 == old }
    }
    let id = session.id
    let name = session.definition.name
    let seconds = Double(session.started.expiresInSeconds)
    run(id) { coordinator in
      do { try await coordinator.time.sleep(seconds: seconds) } catch { return }
      await coordinator.end(
        id,
        .failure(
          AgentFailure(.loginCancelled, "\(name): the login was not finished in time", hint: "oauthctl login \(name)")))
    }
  }

  /// Runs `body` until the session ends.
  func run(_ id: String, _ body: @escaping @Sendable (LoginCoordinator) async -> Void) {
    sessions[id]?.tasks.append(Task { await body(self) })
  }

  /// Ends a session once; later ends change nothing.
  func end(_ id: String, _ result: Result<LoginProgress, AgentFailure>) async {
    guard var session = sessions[id], session.isPending else { return }
    session.state = .ended(result)
    let waiters = session.waiters
    session.waiters = [:]
    let tasks = session.tasks
    session.tasks = []
    sessions[id] = session
    for waiter in waiters.values { waiter.resume(returning: result) }
    for task in tasks { task.cancel() }
    switch result {
    case .success: logger.info("logged in", metadata: ["account": "\(session.definition.name)"])
    case .failure(let failure):
      logger.info("login failed", metadata: ["account": "\(session.definition.name)", "reason": "\(failure.message)"])
    }
    // Not awaited: the page that tells the browser is still on its way through this listener.
    let listeners = session.browser?.listeners ?? []
    Task { for listener in listeners { await listener.close() } }
  }

  private func ending(of id: String, seconds: Double) async -> Result<LoginProgress, AgentFailure> {
    lastWaiter += 1
    let waiter = lastWaiter
    return await withCheckedContinuation { continuation in
      guard let session = sessions[id] else {
        return continuation.resume(returning: .failure(AgentFailure(.badRequest, "there is no such login")))
      }
      if case .ended(let result) = session.state { return continuation.resume(returning: result) }
      sessions[id]?.waiters[waiter] = continuation
      let account = session.definition.name
      Task {
        try? await self.time.sleep(seconds: seconds)
        self.stillPending(id, waiter, account)
      }
    }
  }

  private func stillPending(_ id: String, _ waiter: UInt64, _ account: String) {
    sessions[id]?.waiters.removeValue(forKey: waiter)?.resume(
      returning: .success(LoginProgress(state: .pending, account: account)))
  }

  // MARK: Beginning

  private func begin(_ request: LoginStart) async -> Result<LoginStarted, AgentFailure> {
    do throws(AgentFailure) {
      let context = try await service.loginContext(request.account)
      let device = request.device == true || context.definition.grant == .deviceCode
      let now = time.now()
      let server = try await service.resolver.resolve(context.definition, device: device, now: now)
      let binding = try server.binding(context.definition, hasSecret: context.clientSecret != nil)
      let session = LoginSession(
        id: Base64URL.encode(random.bytes(18)), requestID: request.requestID, definition: context.definition,
        server: server, binding: binding, clientSecret: context.clientSecret, began: now,
        started: LoginStarted(
          loginID: "", kind: .unattended, account: context.definition.name,
          expiresInSeconds: Int(LoginSession.windowSeconds)))
      switch context.definition.grant {
      case _ where device: return .success(try await beginDevice(session))
      case .authorizationCode: return .success(try await beginBrowser(session))
      case .clientCredentials, .password, .deviceCode:
        return .success(try beginUnattended(session, password: context.password))
      }
    } catch { return .failure(error) }
  }

  private func beginUnattended(_ session: LoginSession, password: Secret?) throws(AgentFailure) -> LoginStarted {
    var session = session
    let definition = session.definition
    let grant: TokenRequestGrant
    if definition.grant == .password {
      guard let username = definition.username, let password else {
        throw AgentFailure(
          .configInvalid, "\(definition.name): the password grant needs a user name and a password",
          hint: "oauthctl secret set \(definition.name) password")
      }
      grant = .password(username: username, password: password)
    } else {
      grant = .clientCredentials
    }
    session.started.loginID = session.id
    add(session)
    let id = session.id
    run(id) { await $0.obtain(id, grant, scope: definition.scope) }
    return session.started
  }

  // MARK: Obtaining

  /// Sends one token request for a login, keeps what it gives, and ends the login with it. `scope` is left out where the
  /// authorization request has named it.
  @discardableResult
  func obtain(_ id: String, _ grant: TokenRequestGrant, scope: [String]) async -> Result<LoginProgress, AgentFailure> {
    guard let session = sessions[id] else { return .failure(AgentFailure(.loginCancelled, "the login ended")) }
    let result = await tokens(session, grant, scope: scope)
    await end(id, result)
    return result
  }

  private func tokens(
    _ session: LoginSession, _ grant: TokenRequestGrant, scope: [String]
  ) async -> Result<LoginProgress, AgentFailure> {
    let definition = session.definition
    let asked = time.now()
    let request: HTTPRequest
    do {
      request = try TokenRequest(
        endpoint: session.server.tokenEndpoint, client: try session.binding.client(session.clientSecret), grant: grant,
        scope: scope, resources: definition.resource, audiences: definition.audience,
        extra: session.binding.extraTokenParameters
      ).httpRequest()
    } catch { return .failure(AgentFailure(.configInvalid, "\(definition.name): \(error)")) }
    switch await transport.perform(request, route: session.binding.route) {
    case .notSent(let failure), .sentNoAnswer(let failure):
      return .failure(
        AgentFailure(.unavailable, "\(definition.name): \(session.binding.issuerHost): \(failure.message)"))
    case .answered(let answer):
      return await keep(TokenJudgement(judging: answer, now: Int64(asked.wallSeconds)), session, asked: asked)
    }
  }

  /// Makes what a token endpoint gave durable and tells it.
  func keep(
    _ judgement: TokenJudgement, _ session: LoginSession, asked: Moment
  ) async -> Result<LoginProgress, AgentFailure> {
    let definition = session.definition
    guard case .granted(let granted) = judgement.verdict else {
      return .failure(Self.failure(judgement.verdict, session))
    }
    let refreshToken = judgement.salvagedRefreshToken ?? granted.refreshToken
    let scope = granted.scope ?? definition.scope
    let grant = GrantRecord(
      kind: definition.grant,
      refreshToken: definition.grant == .clientCredentials ? nil : refreshToken.map(StoredSecret.init),
      refreshTokenReceived: refreshToken == nil ? nil : asked,
      refreshTokenLifeSeconds: granted.refreshTokenLifetimeSeconds.map(Double.init), scope: scope, loggedIn: asked,
      binding: session.binding)
    let life = granted.lifetime.knownSeconds
    let token = TokenRecord(
      key: .standard, accessToken: granted.accessToken, tokenType: "Bearer", scope: scope, received: asked,
      lifeSeconds: life.map(Double.init))
    do throws(AgentFailure) {
      let renewable = try await service.finishLogin(definition.name, grant, token)
      let missing = definition.scope.filter { !scope.contains($0) }
      return .success(
        LoginProgress(
          state: .complete, account: definition.name, expiresInSeconds: life, renewable: renewable, scope: scope,
          missingScope: missing.isEmpty ? nil : missing))
    } catch { return .failure(error) }
  }

  static func failure(_ verdict: TokenVerdict, _ session: LoginSession) -> AgentFailure {
    let name = session.definition.name
    let host = session.binding.issuerHost
    switch verdict {
    case .refused(let error):
      let kind: FailureKind = error.meaning == .clientRefused ? .clientRejected : .serverRefused
      return AgentFailure(
        kind, "\(name): \(host) refused the login: \(error)",
        hint: error.meaning == .clientRefused
          ? "check client_id and client secret: oauthctl secret set \(name) client_secret" : nil,
        oauthError: error.code, oauthErrorDescription: error.explanation)
    case .refusedWithoutReason, .granted: return AgentFailure(.serverRefused, "\(name): \(host): \(verdict)")
    case .unusable: return AgentFailure(.unavailable, "\(name): \(host): \(verdict)")
    }
  }
}
