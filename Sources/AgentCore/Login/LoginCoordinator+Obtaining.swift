import AgentWire
import HTTPTerms
import OAuthProtocol
import OAuthTerms
import Sealing

extension LoginCoordinator {
  /// Sends one token request for a login, keeps what it gives, and ends the login with it. `scope` is left out where the
  /// authorization request has named it.
  @discardableResult
  func obtain(_ id: String, _ grant: TokenRequestGrant, scope: [String]) async -> Result<LoginProgress, AgentFailure> {
    guard let session = sessions[id] else { return .failure(AgentFailure(.loginCancelled, "the login ended")) }
    let result = await tokens(session, grant, scope: scope)
    end(id, result)
    return result
  }

  /// A lock waits for it whole: what the server gives for a code is given once.
  func tokens(
    _ session: LoginSession, _ grant: TokenRequestGrant, scope: [String]
  ) async -> Result<LoginProgress, AgentFailure> {
    await service.beginLogin(by: session.binding.clientID)
    await service.waitForRevocations(by: session.binding)
    guard sessions[session.id]?.isPending == true else {
      await service.endLogin(by: session.binding.clientID)
      return .failure(AgentFailure(.loginCancelled, "\(session.definition.name): the login was cancelled"))
    }
    let result = await askForTokens(session, grant, scope: scope)
    await service.endLogin(by: session.binding.clientID)
    return result
  }

  private func askForTokens(
    _ session: LoginSession, _ grant: TokenRequestGrant, scope: [String]
  ) async -> Result<LoginProgress, AgentFailure> {
    let definition = session.definition
    let asked = time.now()
    let (request, outcome): (HTTPRequest, HTTPOutcome)
    do throws(ProtocolError) {
      (request, outcome) = try await send(session, to: session.server.tokenEndpoint) {
        (client, proof) throws(ProtocolError) in
        var request = TokenRequest(
          endpoint: session.server.tokenEndpoint, client: client,
          grant: try session.binding.signed(grant, scope: scope, session.clientSecret, proof.other),
          scope: scope, resources: definition.resource, audiences: definition.audience,
          extra: session.binding.extraTokenParameters)
        request.scopeSeparator = definition.scopeSeparator
        return try request.httpRequest()
      }
    } catch { return .failure(AgentFailure(error, of: definition.name)) }
    switch outcome {
    case .notSent(let failure), .sentNoAnswer(let failure):
      if let judgement = failure.judgement(of: request, now: asked) {
        return await keep(judgement, session, asked: asked)
      }
      return .failure(
        .login(
          failure, "\(definition.name): \(session.binding.issuerHost): \(failure.message)", of: definition))
    case .answered(let answer):
      return await keep(
        TokenJudgement(judging: answer, to: request, now: Int64(asked.wallSeconds)), session, asked: asked)
    }
  }

  /// Sends what `make` makes with the client and its proof for one request to `endpoint`, as ``ProvenExchange`` does.
  /// `isProven`: it asks for something that is bound to the login's key, where there is one.
  func send(
    _ session: LoginSession, to endpoint: WebURL, isProven: Bool = true,
    _ make: @Sendable (OAuthClient, ClientProof) throws(ProtocolError) -> HTTPRequest
  ) async throws(ProtocolError) -> (request: HTTPRequest, outcome: HTTPOutcome) {
    if session.binding.datesRequests || session.definition.grant.signs {
      await service.waitForTime(at: ServerRoute(session.binding))
    }
    let now = await service.now(at: ServerRoute(session.binding))
    var transport = transport(session)
    if !session.loans.isEmpty {
      let (service, loans, name) = (service, session.loans, session.definition.name)
      transport.obstacle = { await service.areLent(loans, to: name) ? nil : ObservedTransport.changed }
    }
    return try await service.exchange(by: transport)
      .perform(isProven ? session.proofKey : nil, at: now, route: session.binding.route) {
        (proof) throws(ProtocolError) in
        try make(try session.binding.client(session.clientSecret, proof, to: endpoint), proof)
      }
  }

  /// A person has asked: a login waits for no server's circuit, and what comes of it is news for all.
  func transport(_ session: LoginSession) -> ObservedTransport {
    var transport = service.observedTransport(for: session.definition.name)
    transport.publicOnly = session.server.publicOnly
    return transport
  }

  /// Makes what a token endpoint gave durable and tells it.
  func keep(
    _ judgement: TokenJudgement, _ session: LoginSession, asked: Moment
  ) async -> Result<LoginProgress, AgentFailure> {
    let definition = session.definition
    var asked = asked
    asked.behindSeconds = judgement.serverDateSeconds.map {
      ServerClock(dateSeconds: $0, sent: asked, received: time.now()).behindSeconds(at: asked)
    }
    guard case .granted(let granted) = judgement.verdict else {
      if let token = judgement.salvagedRefreshToken { await discard(token, nil, session, of: nil) }
      return .failure(Self.failure(judgement.verdict, session))
    }
    let refreshToken = judgement.salvagedRefreshToken ?? granted.refreshToken
    let scope = granted.scope ?? definition.scope
    var binding = session.binding
    binding.hasAnswered(binding.tokenEndpoint)
    var grant = GrantRecord(
      kind: definition.grant,
      refreshToken: definition.grant.terms.bringsRefreshToken ? refreshToken.map(StoredSecret.init) : nil,
      refreshTokenReceived: refreshToken == nil ? nil : asked,
      refreshTokenLifeSeconds: granted.refreshTokenLifetimeSeconds.map(Double.init), scope: scope, loggedIn: asked,
      binding: binding, proofKey: session.proofKey.map(StoredSecret.init))
    grant.lenders = session.loans.isEmpty ? nil : session.loans.map(\.login)
    grant.askedScope = definition.scope
    var concern: String?
    switch identity(of: granted, session, at: asked) {
    case .known(let identity): grant.identity = identity
    case .unknown where session.browser?.isProvenByNonce == true:
      await discard(refreshToken, granted.accessToken, session, of: nil)
      return .failure(Self.unproven(session))
    case .unknown(let reason): concern = reason
    case .another(let failure, let identity):
      await discard(refreshToken, granted.accessToken, session, of: identity)
      return .failure(failure)
    }
    let life = granted.lifetime.knownSeconds
    let token = TokenRecord(
      key: .standard, accessToken: granted.accessToken, tokenType: granted.tokenType.rawValue, scope: scope,
      received: asked,
      lifeSeconds: life.map(Double.init))
    let before = await service.grant(of: definition.name)
    if let failure = await mayReplace(before, with: grant, session) {
      await discard(refreshToken, granted.accessToken, session, of: grant.identity)
      return .failure(failure)
    }
    guard sessions[session.id]?.isPending == true else {
      await discard(refreshToken, granted.accessToken, session, of: grant.identity)
      return .failure(AgentFailure(.loginCancelled, "\(definition.name): the login was cancelled"))
    }
    guard await service.areLent(session.loans, to: definition.name) else {
      await discard(refreshToken, granted.accessToken, session, of: grant.identity)
      return .failure(Self.lenderChanged(session.loans, session))
    }
    sessions[session.id]?.state = .keeping
    do throws(AgentFailure) {
      let renewable = try await service.finishLogin(
        definition.name, grant, token, used: session.secrets,
        replacing: before.flatMap { isOfAnother(grant, than: $0, session) ? $0.loginID : nil })
      let missing = grant.notGranted(definition)
      var progress = LoginProgress(
        state: .complete, account: definition.name, expiresInSeconds: life, renewable: renewable, scope: scope,
        missingScope: missing.isEmpty ? nil : missing,
        user: grant.identity?.user,
        hint: (renewable ? nil : Self.refreshTokenHint(definition, session.server)) ?? concern
          ?? Self.bindingHint(definition, session.server))
      progress.concern(await service.borrowers(of: definition.name, notBy: grant))
      if progress.hint == nil, await service.holdsRevocations(definition.name) {
        progress.hint =
          "\(binding.issuerHost) could not be told of an earlier logout: it is told at the next one, since it might end this "
          + "login with that one's tokens"
      }
      return .success(progress)
    } catch {
      // Nobody has them, so nobody else would revoke them. After a lock nothing is sent.
      if error.kind != .vaultLocked { await discard(refreshToken, granted.accessToken, session, of: grant.identity) }
      return .failure(error)
    }
  }

  /// How the next login may bring a refresh token, where the server has the scope for it.
  private static func refreshTokenHint(_ definition: AccountDefinition, _ server: ResolvedServer) -> String? {
    guard !definition.grant.isUnattended, server.offersOfflineAccess,
      !definition.scope.contains(AccountDefinition.offlineAccess)
    else { return nil }
    return "The scope offline_access may bring one: add it to scope in \(definition.file), "
      + "then: oauthctl login \(definition.name)"
  }

  /// Tokens that are bound to the certificate (RFC 8705 §3) are Bearer tokens by name, and no caller can use them.
  private static func bindingHint(_ definition: AccountDefinition, _ server: ResolvedServer) -> String? {
    guard definition.showsCertificate, server.bindsTokensToCertificates else { return nil }
    return
      "Its server can bind tokens to the certificate. An API that looks for that refuses them from every program: the "
      + "key stays in the agent."
  }

  /// Has the server told that the tokens of a login that is not kept are not wanted (RFC 7009). Where it could end a login that
  /// is there with them, it is told after that one's end.
  private func discard(
    _ refreshToken: Secret?, _ accessToken: Secret?, _ session: LoginSession, of identity: IdentityRecord?
  ) async {
    guard session.binding.revocationEndpoint != nil, let token = refreshToken ?? accessToken else { return }
    var revocation = RevocationRecord(
      token: StoredSecret(token), hint: refreshToken == nil ? "access_token" : "refresh_token",
      binding: session.binding, since: time.now())
    let name = session.definition.name
    revocation.user = identity?.endUser
    if session.binding.sendsClientSecret { revocation.clientSecret = session.clientSecret.map(StoredSecret.init) }
    // Nothing else is on its way for it.
    if sessions[session.id]?.isPending == true { service.pendingLogins.set(name, nil) }
    if await service.revoke(ofUnkeptLogin: revocation, of: name) { return }
    // A lock or a stop waits for it and gives no places any more: it goes without one, as few as were under way then.
    let transport: any HTTPTransport = await service.isClosed ? service.checkedTransport : transport(session)
    let now = time.now()
    // The end of a login cancels its tasks, of which this may be one.
    _ = await Task { [revocation] in
      await TokenEndpoint(service.exchange(by: transport))
        .revoke(revocation, clientSecret: session.clientSecret, now: now)
    }.value
  }

  /// What to do about the server's refusal of a login.
  static func hint(_ error: OAuthError, _ session: LoginSession) -> NextStep {
    let (definition, again) = (session.definition, session.again)
    switch error.advice?.action {
    case .checkScope: return "check scope in \(definition.file), then: \(again.text)"
    case .checkGrant: return "run the login with another --grant, or write another grant into \(definition.file)"
    case .checkResource: return "check resource and audience in \(definition.file), then: \(again.text)"
    case .checkRedirect:
      return .advice(
        "register the redirect address \(definition.redirectURI) at the server, or name the one that is registered, "
          + "then: \(again.text)")
    case .askAdministrator: return "ask whoever is in charge of \(session.binding.issuerHost), then: \(again.text)"
    case .other(let what): return "\(what), then: \(again.text)"
    case .checkClient: return ClientHint.text(definition.name, method: session.binding.clientAuthentication)
    case .logIn, .wait, nil: return again
    }
  }

  /// What to do about a refusal that gives no reason: a client that proves itself may have been refused for that. A
  /// password that was typed is more likely wrong.
  static func hintWithoutReason(_ session: LoginSession) -> NextStep {
    let method = session.binding.clientAuthentication
    guard method != ClientAuthenticationMethod.none.rawValue, session.definition.grant.terms.need != .password else {
      return session.again
    }
    return ClientHint.text(session.definition.name, method: method)
  }

  /// The failure of a login of which the server has refused a step.
  static func refused(_ error: OAuthError, _ message: String, _ session: LoginSession) -> AgentFailure {
    var failure = AgentFailure(
      error.meaning == .clientRefused ? .clientRejected : .serverRefused, message, hint: hint(error, session),
      oauthError: error.code, oauthErrorDescription: error.explanation)
    failure.obstacleKey = error.advice?.action.definitionKey
    return failure
  }

  /// What the server said, in plain words: where a password is all that was sent, `invalid_grant` is about that (RFC 6749
  /// §4.3.3).
  private static func told(_ error: OAuthError, _ session: LoginSession) -> String {
    guard session.definition.grant.terms.need == .password, error.code == "invalid_grant",
      ErrorAdvice.detailed(by: error.explanation) == nil
    else { return error.told }
    return "\(error): the server does not take that user name and password"
  }

  static func failure(_ verdict: TokenVerdict, _ session: LoginSession) -> AgentFailure {
    let name = session.definition.name
    let host = session.binding.issuerHost
    var failure: AgentFailure
    switch verdict {
    case .refused(let error):
      failure = refused(error, "\(name): \(host) refused the login: \(told(error, session))", session)
    case .refusedWithoutReason:
      failure = AgentFailure(.serverRefused, "\(name): \(host): \(verdict)", hint: hintWithoutReason(session))
    case .granted:
      failure = AgentFailure(.serverRefused, "\(name): \(host): \(verdict)", hint: session.again)
    case .unusable(.notBound, _):
      failure = AgentFailure(
        .serverRefused, "\(name): \(host) does not bind its tokens to a key: \(verdict)",
        hint: "take dpop out of \(session.definition.file), then: \(session.again.text)")
      failure.obstacleKey = "dpop"
    case .unusable: failure = AgentFailure(.unavailable, "\(name): \(host): \(verdict)")
    }
    failure.logLine = verdict.logLine
    return failure
  }
}
