import AgentWire
import HTTPTerms
import OAuthProtocol

extension LoginCoordinator {
  /// The device flow (RFC 8628).
  func beginDevice(_ session: LoginSession) async throws(AgentFailure) -> LoginStarted {
    var session = session
    let definition = session.definition
    guard let endpoint = session.server.deviceAuthorizationEndpoint else {
      throw AgentFailure(
        .configInvalid, "\(definition.name): \(session.binding.issuerHost) names no device authorization endpoint",
        hint: "log in with a browser, or name it: --device-authorization-endpoint URL")
    }
    let asked = time.now()
    let (request, outcome): (HTTPRequest, HTTPOutcome)
    do throws(ProtocolError) {
      (request, outcome) = try await send(session, to: endpoint, isProven: false) {
        [binding = session.binding] (client, _) throws(ProtocolError) in
        var request = DeviceAuthorizationRequest(
          endpoint: endpoint, client: client, scope: definition.scope, resources: definition.resource,
          audiences: definition.audience, extra: binding.extraTokenParameters)
        request.scopeSeparator = definition.scopeSeparator
        return try request.httpRequest()
      }
    } catch { throw AgentFailure(error, of: definition.name) }
    let host = session.binding.issuerHost
    switch outcome {
    case .notSent(let failure), .sentNoAnswer(let failure):
      throw .login(failure, "\(definition.name): \(host): \(failure.message)", of: definition)
    case .answered(let answer):
      let verdict = DeviceAuthorizationVerdict(judging: answer, to: request, now: Int64(asked.wallSeconds))
      switch verdict {
      case .authorized(let authorization):
        session.started = LoginStarted(
          loginID: session.id, kind: .device, account: definition.name,
          expiresInSeconds: authorization.expiresInSeconds, userCode: authorization.userCode,
          verificationURI: authorization.verificationURI.text,
          verificationURIComplete: authorization.verificationURIComplete?.text,
          notice: Self.notice(
            of: authorization.verificationURI.origin, issuer: session.binding.issuer, before: "enter the code"))
        try add(session)
        let id = session.id
        run(id) { await $0.poll(id, authorization, asked: asked) }
        return session.started
      case .refused(let error):
        throw Self.refused(error, "\(definition.name): \(host): \(verdict)", session)
      case .unusable: throw AgentFailure(.unavailable, "\(definition.name): \(host): \(verdict)")
      }
    }
  }

  /// A server could have a person log in at another server, and get what that gives (RFC 9700 §4.4): by a code, or by its
  /// authorization page. `act` is what a person would do there.
  static func notice(of page: Origin, issuer: String, before act: String) -> String? {
    guard let issuer = try? WebURL(issuer).origin, !page.sharesOwner(with: issuer) else { return nil }
    // On this machine the port tells them apart.
    let isPort = page.isLoopback && issuer.isLoopback
    func words(_ origin: Origin) -> String { isPort ? "\(origin.host):\(origin.port)" : origin.host }
    return "That page is at \(words(page)), not at \(words(issuer)): \(act) only if you know it as that server's page"
  }

  /// Polls the token endpoint at the times that the server's answers allow (RFC 8628 §3.5).
  func poll(_ id: String, _ authorization: DeviceAuthorization, asked: Moment) async {
    var polling = DevicePolling(authorization, startedAtMilliseconds: asked.bootMilliseconds)
    if let session = sessions[id] { await service.waitForRevocations(by: session.binding) }
    var step = polling.first(atMilliseconds: time.now().bootMilliseconds)
    while let session = sessions[id], session.isPending {
      switch step {
      case .stopped(let stop): return end(id, .failure(Self.failure(stop, session)))
      case .granted: return
      case .poll(let at):
        let wait = Double(at - time.now().bootMilliseconds) / 1_000
        do { try await time.sleep(seconds: max(0, wait)) } catch { return }
        sessions[id]?.isPolling = true
        await service.beginLogin(by: session.binding.clientID)
        let next = await pollOnce(id, session, authorization, &polling)
        sessions[id]?.isPolling = false
        await service.endLogin(by: session.binding.clientID)
        guard let next else { return }
        step = next
      }
    }
  }

  /// One poll; nil when the login ended.
  private func pollOnce(
    _ id: String, _ session: LoginSession, _ authorization: DeviceAuthorization, _ polling: inout DevicePolling
  ) async -> DevicePolling.Step? {
    let asked = time.now()
    let (request, outcome): (HTTPRequest, HTTPOutcome)
    do throws(ProtocolError) {
      (request, outcome) = try await send(session, to: session.server.tokenEndpoint) {
        (client, _) throws(ProtocolError) in
        try TokenRequest(
          endpoint: session.server.tokenEndpoint, client: client,
          grant: .deviceCode(authorization.deviceCode), extra: session.binding.extraTokenParameters
        ).httpRequest()
      }
    } catch {
      end(id, .failure(AgentFailure(error, of: session.definition.name)))
      return nil
    }
    let judgement: TokenJudgement? =
      switch outcome {
      case .notSent(let failure), .sentNoAnswer(let failure): failure.judgement(of: request, now: asked)
      case .answered(let answer): TokenJudgement(judging: answer, to: request, now: Int64(asked.wallSeconds))
      }
    guard let judgement else { return polling.noAnswer(nowMilliseconds: time.now().bootMilliseconds) }
    let step = polling.judge(judgement, nowMilliseconds: time.now().bootMilliseconds)
    // A refresh token is given once: another poll would bring none, and this one is to be revoked where it cannot be used.
    if judgement.salvagedRefreshToken == nil { guard case .granted = step else { return step } }
    end(id, await keep(judgement, session, asked: asked))
    return nil
  }

  private static func failure(_ stop: DeviceStop, _ session: LoginSession) -> AgentFailure {
    let name = session.definition.name
    var failure: AgentFailure
    switch stop {
    case .expired, .unknownCode:
      failure = AgentFailure(.loginCancelled, "\(name): \(stop)", hint: session.again)
    case .denied(let error), .refused(let error):
      failure = refused(error, "\(name): \(stop)", session)
    case .refusedWithoutReason:
      failure = AgentFailure(.serverRefused, "\(name): \(stop)", hint: hintWithoutReason(session))
    case .unusable:
      failure = AgentFailure(.serverRefused, "\(name): \(stop)", hint: session.again)
    }
    failure.logLine = stop.logLine
    return failure
  }
}

extension Moment {
  /// Boot time in whole milliseconds.
  var bootMilliseconds: Int64 { Int64(bootSeconds * 1_000) }
}
