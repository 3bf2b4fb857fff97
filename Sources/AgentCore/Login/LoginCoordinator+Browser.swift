import AgentWire
import HTTPTerms
import Logging
import OAuthProtocol
import Sealing

extension LoginCoordinator {
  /// Authorization code with PKCE S256 and a loopback redirect (RFC 6749 §4.1, RFC 7636, RFC 8252 §7.3).
  func beginBrowser(_ session: LoginSession) async throws(AgentFailure) -> LoginStarted {
    var session = session
    let definition = session.definition
    guard let endpoint = session.server.authorizationEndpoint else {
      throw AgentFailure(
        .configInvalid, "\(definition.name): \(session.binding.issuerHost) names no authorization endpoint",
        hint: "name it with --authorization-endpoint, or log in with --device")
    }
    if let obstacle = session.server.authorizationObstacle {
      throw AgentFailure(
        .configInvalid,
        "\(definition.name): \(session.binding.issuerHost): no login by browser: \(obstacle)",
        hint: session.server.deviceAuthorizationEndpoint != nil
          ? "log in with a code instead: oauthctl login \(definition.name) --device"
          : "ask whoever runs the server to allow this client plain requests with PKCE S256")
    }
    try checkSharedRedirect(session)
    let id = session.id
    let redirect: RedirectURI
    let place: RedirectURI
    do {
      redirect = try definition.redirect()
      // Where nobody can listen for the answer: for the browser's link alone, which keeps `state` out of its arguments.
      place = redirect.isLoopback || session.isBrowserRemote ? redirect : try RedirectURI("http://127.0.0.1")
    } catch { throw AgentFailure(error, of: definition.name) }
    let takesAnswer = redirect.isLoopback
    try makeRoom(definition.name)
    listenersOpening += 1
    defer { listenersOpening -= 1 }
    let opened: [Opened]
    var problem: String?
    var isForOthers = false
    do throws(AgentFailure) {
      opened = try await listen(place, session, &isForOthers) { hit in
        takesAnswer ? await self.hit(id, hit) : await self.follow(hit, id)
      }
    } catch {
      // The browser is on another machine: the address is pasted, whoever has the port here.
      let isPasted =
        session.isBrowserRemote && error.kind != .configInvalid
        && (redirect.port != nil || !definition.redirectPorts.isEmpty) && session.takesPaste(isForOthers: isForOthers)
      // Of a redirect elsewhere the browser lacks its link alone: then a person opens the address.
      guard isPasted || !takesAnswer else { throw error }
      logger.notice(
        "nothing listens for a login",
        metadata: ["event": "login_unheard", "account": "\(definition.name)", "reason": "\(error.message)"])
      opened = []
      problem = error.message(without: definition.name)
    }
    let listeners = opened.map(\.listener)
    do throws(AgentFailure) {
      let state = AuthorizationState.make(random: random)
      let pkce = PKCE(random: random)
      let sent = redirect.parameter(port: listeners.first?.port ?? definition.redirectPorts.first ?? 0)
      let expectation: AuthorizationExpectation
      var request: AuthorizationRequest
      // PKCE binds the code; this binds the ID token, and some servers refuse OpenID requests without it.
      let nonce = definition.scope.contains("openid") ? Base64URL.encode(random.bytes(16)) : nil
      do throws(ProtocolError) {
        expectation = try AuthorizationExpectation(
          redirectURI: sent, state: state, issuer: definition.issuer, issuerRequired: session.server.namesIssuer,
          secrets: [pkce.verifier] + (session.clientSecret.map { [$0] } ?? []))
        request = AuthorizationRequest(
          endpoint: endpoint, clientID: definition.clientID, redirectURI: sent, scope: definition.scope, state: state,
          codeChallenge: pkce.challenge, nonce: nonce,
          proofThumbprint: try session.proofKey.map { (key) throws(ProtocolError) in
            try ProofKey(stored: key).thumbprint
          },
          resources: definition.resource, audiences: definition.audience,
          extra: session.wishes.parameters(definition))
        request.scopeSeparator = definition.scopeSeparator
      } catch { throw AgentFailure(error, of: definition.name) }
      let (url, life) = try await authorizationURL(request, session)
      let page =
        definition.authorizationEndpoint == nil
        ? Self.notice(of: endpoint.origin, issuer: session.binding.issuer, before: "log in there") : nil
      session.browser = LoginSession.Browser(
        expectation: expectation, pkce: pkce, redirectURI: sent, nonce: nonce, listeners: listeners,
        links: opened.first.map { LoginLinks(origin: place.origin(address: $0.address, port: $0.listener.port)) },
        isProvenByNonce: takesAnswer && isForOthers && opened.isEmpty)
      session.started = LoginStarted(
        loginID: id, kind: .browser, account: definition.name, expiresInSeconds: Int(LoginSession.windowSeconds),
        authorizationURL: url, redirectURI: sent, notice: page ?? life)
      session.started.listenerProblem = problem
    } catch {
      for listener in listeners { await listener.close() }
      throw error
    }
    do throws(AgentFailure) { try add(session) } catch {
      for listener in listeners { await listener.close() }
      throw error
    }
    return session.started
  }

  /// Throws where as many logins wait for a browser as may: each has processes that listen for it.
  func makeRoom(_ name: String) throws(AgentFailure) {
    let waiting = sessions.values.count { $0.isPending && $0.browser != nil }
    guard waiting + listenersOpening < WireLimits.browserLogins else {
      throw AgentFailure(
        .overloaded, "\(name): \(WireLimits.browserLogins) logins wait for their browsers already",
        hint: "finish some of them, or wait: a login ends after five minutes")
    }
  }

  private typealias Opened = (address: String, listener: any RedirectListening)

  /// Listens on every address of the redirect URI, with one port for all of them. `isForOthers`: another user may
  /// listen at one that was wanted.
  private func listen(
    _ redirect: RedirectURI, _ session: LoginSession, _ isForOthers: inout Bool,
    onHit: @escaping @Sendable (RedirectHit) async -> RedirectPage
  ) async throws(AgentFailure) -> [Opened] {
    let definition = session.definition
    // Zero is any: one that the kernel chose for one address may be taken on the other.
    let anyPort = Array(repeating: 0, count: 8)
    let ports = redirect.port.map { [$0] } ?? (definition.redirectPorts.isEmpty ? anyPort : definition.redirectPorts)
    var rest = ports[...]
    let identity = try await identity(of: redirect, definition)
    // One of them may be gone by the time that a port is refused for it.
    var leaving = leaving(ports)
    while true {
      let port = rest.popFirst() ?? 0
      do { return try await open(redirect, port: port, identity, onHit) } catch {
        let refusal = error as? RedirectListenerError
        isForOthers = isForOthers || refusal?.isForOthers ?? true
        if let refusal, refusal.isOfFile { throw Self.failure(refusal, definition) }
        if refusal?.isTaken == true, !rest.isEmpty { continue }
        leaving += self.leaving(ports)
        if refusal?.isTaken == true, !leaving.isEmpty {
          for end in leaving { await end.value }
          (rest, leaving) = (ports[...], self.leaving(ports))
          continue
        }
        let all =
          definition.redirectPorts.count > 1 && refusal?.isTaken == true
          ? "none of redirect_ports (\(ports.map(String.init).joined(separator: ", "))) is free: " : ""
        let isFixed = refusal?.isTaken == true && redirect.port != nil
        var failure = AgentFailure(
          .unavailable,
          "\(definition.name): the redirect listener cannot be opened: \(all)\(refusal?.message ?? "\(error)")",
          hint: isFixed
            ? Self.hint(withoutPortOf: session, pastes: session.takesPaste(isForOthers: isForOthers))
            : refusal?.hint ?? .run("oauthctl doctor   # it tells what is wrong"))
        failure.obstacleKey = isFixed ? "redirect_uri" : nil
        throw failure
      }
    }
  }

  /// What it proves itself with, on https.
  private func identity(
    of redirect: RedirectURI, _ definition: AccountDefinition
  ) async throws(AgentFailure) -> RedirectIdentity? {
    guard let files = definition.redirectIdentity, let host = redirect.certifiedHost else { return nil }
    do { return try await redirects.identity(files, host: host) } catch {
      throw Self.failure(error as? RedirectListenerError ?? RedirectListenerError("\(error)"), definition)
    }
  }

  /// `localhost` stands for two addresses: one is enough where the machine has no other. Where somebody else may listen on
  /// one of them, the browser may go there first, so that ends it.
  private func open(
    _ redirect: RedirectURI, port: Int, _ identity: RedirectIdentity?,
    _ onHit: @escaping @Sendable (RedirectHit) async -> RedirectPage
  ) async throws -> [Opened] {
    var opened: [Opened] = []
    var missing: (any Error)?
    for address in redirect.listenAddresses {
      do {
        let port = opened.first?.listener.port ?? port
        opened.append(
          (address, try await redirects.listen(host: address, port: port, identity: identity, onHit: onHit)))
      } catch {
        missing = error
        let refusal = error as? RedirectListenerError
        if refusal?.isTaken == true || refusal?.isOfFile == true { break }
      }
    }
    if let missing, opened.isEmpty || (missing as? RedirectListenerError)?.isForOthers != false {
      for listening in opened { await listening.listener.close() }
      throw missing
    }
    return opened
  }

  /// `started` with a link of its own for the browser, as long as somebody listens for it.
  func withLink(_ id: String, _ started: LoginStarted, isJoined: Bool = false) -> LoginStarted {
    var started = started
    started.joined = isJoined ? true : nil
    guard case .pending? = sessions[id]?.state else { return started }
    started.browserURL = sessions[id]?.browser?.links?.make(random: random)
    return started
  }

  /// A link leads to the authorization URL once, while the login waits for a code.
  private func follow(_ hit: RedirectHit, _ id: String) -> RedirectPage {
    guard hit.target.hasPrefix(LoginLinks.folder) else { return .notFound }
    guard hit.method == "GET" else { return .methodNotAllowed }
    guard let session = sessions[id], case .pending = session.state, let url = session.started.authorizationURL,
      sessions[id]?.browser?.links?.follow(hit.target) == true
    else { return .linkUsed }
    return .forward(url)
  }

  /// A request reached the redirect listener.
  private func hit(_ id: String, _ hit: RedirectHit) async -> RedirectPage {
    guard let session = sessions[id], let browser = session.browser else { return .ignored }
    let verdict = browser.expectation.judge(method: hit.method, target: hit.target)
    switch verdict {
    case .ignore(.path): return follow(hit, id)
    case .ignore(.method): return .methodNotAllowed
    case .ignore: return .ignored
    case .denied, .refused, .code: break
    }
    guard case .pending = session.state else { return .ignored }
    // Not awaited itself: it may ask a person, who looks at the browser meanwhile.
    Task { await judge(verdict, id) }
    switch await ending(of: id, seconds: Self.pageSeconds) {
    case .success(let progress) where progress.state == .complete: return .loggedIn
    case .success(let progress) where progress.otherUser != nil: return .asked
    case .success:
      guard let now = sessions[id], now.refusals > session.refusals, let refusal = now.refusal else { return .ignored }
      return .codeRefused(reason: refusal.message)
    case .failure(let failure): return .refused(reason: failure.message)
    }
  }

  /// A code is exchanged in less, seconds: `login.complete` waits as long for it.
  private static let pageSeconds = completeSeconds

  /// Ends the login with a verdict that is not `ignore`, but for a code that the server refuses: a page in the browser
  /// that learned the `state` could end the login with any code. A second verdict waits for nothing: the first one
  /// decides.
  @discardableResult
  func judge(_ verdict: AuthorizationVerdict, _ id: String) async -> Result<LoginProgress, AgentFailure> {
    guard var session = sessions[id], let browser = session.browser, case .pending = session.state else {
      return .failure(AgentFailure(.loginPending, "this login is being finished already"))
    }
    let name = session.definition.name
    switch verdict {
    case .code(let code):
      session.state = .exchanging
      sessions[id] = session
      let result = await tokens(
        session, .authorizationCode(code, redirectURI: browser.redirectURI, codeVerifier: browser.pkce.verifier),
        scope: [])
      if case .failure(let failure) = result, goesOn(id, after: failure) { return result }
      end(id, result)
      return result
    case .denied(let error):
      var failure = AgentFailure(
        .serverRefused, "\(name): \(session.binding.issuerHost) did not grant access: \(error.told)",
        hint: Self.hint(error, session), oauthError: error.code, oauthErrorDescription: error.explanation)
      failure.obstacleKey = error.advice?.action.definitionKey
      failure.logLine = verdict.logLine
      end(id, .failure(failure))
      return .failure(failure)
    case .refused, .ignore:
      var failure = AgentFailure(.serverRefused, "\(name): \(verdict)", hint: session.again)
      failure.logLine = verdict.logLine
      end(id, .failure(failure))
      return .failure(failure)
    }
  }

  /// Whether the login goes on after `failure`: the server refused the code, and there are tries and time left.
  private func goesOn(_ id: String, after failure: AgentFailure) -> Bool {
    guard var session = sessions[id], case .exchanging = session.state,
      failure.oauthError.flatMap({ OAuthError(code: $0) })?.meaning == .grantRefused
    else { return false }
    session.refusals += 1
    guard session.refusals < LoginSession.codes,
      time.now().seconds(since: session.began) < LoginSession.windowSeconds
    else { return false }
    session.refusal = failure
    session.state = .pending
    sessions[id] = session
    answerWaiters(id, .success(session.progress))
    return true
  }
}
