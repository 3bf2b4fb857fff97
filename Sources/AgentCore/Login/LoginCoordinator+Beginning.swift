import AgentWire
import OAuthProtocol
import OAuthTerms
import Sealing

extension LoginCoordinator {
  func begin(_ request: LoginStart) async -> Result<LoginStarted, AgentFailure> {
    let epoch = epoch
    let left = departures[request.account, default: 0]
    do throws(AgentFailure) {
      let context = try await service.loginContext(
        request.account, shown: request.definitionDigest, secretsID: request.secretsID)
      let wishes = try LoginWishes(request)
      try Self.checkUser(wishes, context.definition, known: context.record?.grant?.identity)
      try await service.checkLenders(of: context.definition)
      let giver = context.definition.giver(device: request.device == true)
      let now = time.now()
      let server = try await service.resolver(for: context.definition.name)
        .resolve(context.definition, device: giver == .device, now: now)
      let (binding, lenders) = try await service.withLenders(
        server.binding(context.definition, hasSecret: context.clientSecret != nil), of: context.definition.name)
      let agreement = try await service.checkLogin(context, binding, lenders: lenders, agreed: request.bindingDigest)
      // Before a browser is opened for a login that could not end.
      let method = binding.clientAuthentication
      if let obstacle = ClientObstacle(method, context.clientSecret, to: server.tokenEndpoint) {
        let name = context.definition.name
        throw AgentFailure(.configInvalid, "\(name): \(obstacle.reason(method))", hint: obstacle.hint(name, method))
      }
      try await service.placeSecrets(context, by: binding)
      await service.revoke(before: binding, of: context.definition.name)
      var proofKey: Secret?
      if let algorithm = try server.proofAlgorithm(context.definition) {
        proofKey = try await service.keyMaker.proofKey(for: algorithm, context.definition.name)
      }
      var session = LoginSession(
        id: Base64URL.encode(random.bytes(18)), definition: context.definition,
        server: server, binding: binding, agreement: agreement, secrets: context.secrets,
        proofKey: proofKey, began: now,
        started: LoginStarted(
          loginID: "", kind: .unattended, account: context.definition.name,
          expiresInSeconds: Int(LoginSession.windowSeconds)))
      session.wishes = wishes
      session.lenders = lenders
      session.confirmsUser = request.confirmsUser == true
      session.epoch = epoch
      session.departures = left
      session.isDevice = giver == .device
      session.isBrowserRemote = request.remoteBrowser == true
      session.isPasswordKept = context.definition.grant.terms.need == .password && context.given?.password == nil
      guard giver == .browser || !session.wishes.areForBrowser else {
        throw AgentFailure(
          .badRequest, "\(context.definition.name): prompt, max_age and login_hint are for a login by browser",
          hint:
            "leave them out: this login is by \(giver == .device ? "device code" : context.definition.grant.rawValue)")
      }
      switch giver {
      case .browser: return .success(try await beginBrowser(session))
      case .device: return .success(try await beginDevice(session))
      case .nobody: return .success(try beginUnattended(session))
      }
    } catch { return .failure(error) }
  }

  private func beginUnattended(_ session: LoginSession) throws(AgentFailure) -> LoginStarted {
    var session = session
    let definition = session.definition
    guard
      let grant = TokenRequestGrant.unattended(
        definition.grant, username: definition.username, password: session.secrets.password, type: definition.grantType)
    else {
      let need = definition.grant.terms.need
      throw AgentFailure(
        .configInvalid,
        "\(definition.name): the \(definition.grant.rawValue) grant needs \(need?.words ?? "more than is kept")",
        hint: need.flatMap(SecretKind.init).map { .run("oauthctl secret set \(definition.name) \($0.rawValue)") })
    }
    session.started.loginID = session.id
    session.state = .exchanging
    try add(session)
    let (id, binding) = (session.id, session.binding)
    run(id) { coordinator in
      guard grant.missing == .lentTokens else {
        return _ = await coordinator.obtain(id, grant, scope: definition.scope)
      }
      let borrower = CredentialService.Borrower(
        name: definition.name, binding: binding, key: .standard, isLoggedIn: false)
      let lent = await coordinator.service.lend(
        definition.grant, RequestToSend(key: .standard, priority: .person), to: borrower)
      // It may have been cancelled meanwhile.
      guard await coordinator.sessions[id]?.isPending == true else { return }
      switch lent {
      case .success(let lent):
        guard await coordinator.keep(lent.loans, of: id) else { return }
        await coordinator.obtain(id, lent.grant, scope: definition.scope)
      case .failure(let failure): await coordinator.end(id, .failure(failure))
      }
    }
    return session.started
  }

  /// False where another login has lent than the one that was agreed to: then this one has ended.
  private func keep(_ loans: [Loan], of id: String) -> Bool {
    guard let session = sessions[id] else { return false }
    guard loans.allSatisfy({ session.lenders.contains($0.login) }) else {
      end(id, .failure(Self.lenderChanged(loans, session)))
      return false
    }
    sessions[id]?.loans = loans
    return true
  }

  static func lenderChanged(_ loans: [Loan], _ session: LoginSession) -> AgentFailure {
    let names = loans.map(\.token.account).joined(separator: " or ")
    return AgentFailure(
      .loginCancelled,
      "\(session.definition.name): the login of \(names) is another one by now, or lends no more; "
        + "nothing of this one is kept",
      hint: session.again)
  }
}
