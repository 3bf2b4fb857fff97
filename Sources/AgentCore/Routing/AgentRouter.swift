package import AgentWire
package import Logging

/// Turns requests into calls of the service that owns the matter, and results into answer lines.
package struct AgentRouter: LineResponder {
  /// What protocol version 1 has grown by.
  static let capabilities = [
    "events", "username", "ca_file", "paths", "dpop", "id_token", "needed_scope", "import", "registration",
    "authority_host", "further_urls",
  ]

  let service: CredentialService
  let logins: LoginCoordinator
  let vault: any VaultControl
  private let ready: ReadyTokens
  private let time: any TimeKeeper
  private let admission: Admission
  private let identity: AgentIdentity
  private let logger: Logger
  private let desk = TokenRequestQueue()

  package init(
    service: CredentialService, logins: LoginCoordinator, vault: any VaultControl, ready: ReadyTokens,
    time: any TimeKeeper, admission: Admission, identity: AgentIdentity, logger: Logger
  ) {
    self.service = service
    self.logins = logins
    self.vault = vault
    self.ready = ready
    self.time = time
    self.admission = admission
    self.identity = identity
    self.logger = logger
  }

  // MARK: The ready path

  package func now() -> Moment { time.now() }

  package func sendReadyAnswer(
    to request: TokenLine.Request, from caller: Caller, at now: Moment,
    _ send: (_ capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int) -> Void
  ) -> Bool {
    guard case .number(let id) = request.id, admission.admit(caller) == .allow,
      let answer = ready.answer(to: request, at: now)
    else { return false }
    send(answer.capacity) { answer.write(id, at: now, into: $0) }
    return true
  }

  // MARK: Tokens that have to be waited for

  package func answerToken(
    _ request: RequestLine, from caller: Caller, _ reply: @escaping @Sendable (TokenReply) -> Void
  ) {
    if case .deny(let reason) = admission.admit(caller) {
      return reply(.line(refusal(of: request, AgentFailure(.notPermitted, reason))))
    }
    if desk.put(TokenRequestQueue.Request(line: request, reply: reply)) { Task { await serveDesk() } }
  }

  private func serveDesk() async {
    while case let requests = desk.take(), !requests.isEmpty {
      var questions: [TokenQuestion] = []
      for request in requests {
        do throws(AgentFailure) {
          let parameters = try Self.tokenGet(request.line)
          if parameters.interaction == .wait {
            // It may wait for a login as well.
            Task { request.reply(.line(await answer(to: request.line, parameters))) }
          } else {
            questions.append(TokenQuestion(id: request.line.id, parameters: parameters, reply: request.reply))
          }
        } catch { request.reply(.line(refusal(of: request.line, error))) }
      }
      await service.ask(questions)
      if events.isFollowed { await service.tellVault() }
    }
  }

  private func answer(to request: RequestLine, _ parameters: TokenGet) async -> [UInt8] {
    do throws(AgentFailure) { return AnswerLine.success(request.id, try await token(parameters)) } catch {
      return refusal(of: request, error)
    }
  }

  private func refusal(of request: RequestLine, _ failure: AgentFailure) -> [UInt8] {
    logger.debug(
      "refused", metadata: ["method": "\(request.method.rawValue)", "failure": "\(failure.kind.rawValue)"])
    return AnswerLine.failure(request.id, failure)
  }

  // MARK: Every other request

  package func answer(to request: RequestLine, from caller: Caller) async -> [UInt8] {
    let answer = await admitted(request, caller)
    // Nearly every request may have opened it, or found that it cannot be.
    if events.isFollowed { await service.tellVault() }
    return answer
  }

  private func admitted(_ request: RequestLine, _ caller: Caller) async -> [UInt8] {
    do throws(AgentFailure) {
      if case .deny(let reason) = admission.admit(caller) { throw AgentFailure(.notPermitted, reason) }
      return try await route(request, caller)
    } catch { return refusal(of: request, error) }
  }

  private func route(_ request: RequestLine, _ caller: Caller) async throws(AgentFailure) -> [UInt8] {
    func reply<P: RequestParameters>(
      _ type: P.Type, _ body: (P) async throws(AgentFailure) -> P.Answer
    ) async throws(AgentFailure) -> [UInt8] {
      AnswerLine.success(request.id, try await body(try request.parameters(type)))
    }
    switch request.method {
    case .agentHello: return try await reply(AgentHello.self, hello)
    case .agentStatus: return try await reply(AgentStatus.self, status)
    case .tokenGet: return AnswerLine.success(request.id, try await token(try Self.tokenGet(request)))
    case .tokenReject: return try await reply(TokenReject.self, service.reject)
    case .dpopProof: return try await reply(DPoPProof.self, service.prove)
    case .tokenID: return try await reply(TokenID.self, service.idToken)
    case .loginStart: return try await reply(LoginStart.self, logins.start)
    case .loginWait: return try await reply(LoginWait.self, logins.wait)
    case .loginComplete: return try await reply(LoginComplete.self, logins.complete)
    case .loginConfirm: return try await reply(LoginConfirm.self, logins.confirm)
    case .loginCancel: return try await reply(LoginCancel.self, logins.cancel)
    case .serverFind: return try await reply(ServerFind.self, service.find)
    case .clientRegister: return try await reply(ClientRegister.self, service.register)
    case .providerList:
      return try await reply(ProviderList.self) { _ throws(AgentFailure) in
        await service.configuration.providers()
      }
    case .providerShow: return try await reply(ProviderShow.self, service.configuration.provider)
    case .accountCheck: return try await reply(AccountCheck.self, logins.check)
    case .accountList: return try await reply(AccountList.self, list)
    case .accountShow: return try await reply(AccountShow.self, service.show)
    case .accountForget: return try await reply(AccountForget.self, forget)
    case .accountAccept: return try await reply(AccountAccept.self, service.accept)
    case .accountImport: return try await reply(AccountImport.self, logins.take)
    case .configReload: return try await reply(ConfigReload.self, reload)
    case .secretSet: return try await reply(SecretSet.self, service.setSecret)
    case .secretForget: return try await reply(SecretForget.self, service.forgetSecret)
    case .keySet: return try await reply(KeySet.self, service.setKey)
    case .logout: return try await reply(Logout.self, logout)
    case .vaultStatus: return try await reply(VaultStatusRequest.self, vaultStatus)
    case .vaultCreate: return try await reply(VaultCreate.self, createVault)
    case .vaultLock: return try await reply(VaultLock.self, lockVault)
    case .vaultUnlock: return try await reply(VaultUnlock.self, unlockVault)
    case .vaultAcceptRollback: return try await reply(VaultAcceptRollback.self, acceptRollback)
    case .vaultSlots: return try await reply(VaultSlots.self) { _ throws(AgentFailure) in try await vault.slots() }
    case .vaultSetSlot: return try await reply(VaultSetSlot.self, setSlot)
    case .vaultRemoveSlot: return try await reply(VaultRemoveSlot.self, removeSlot)
    case .vaultRekey: return try await reply(VaultRekey.self, rekey)
    case .vaultConfirmCode: return try await reply(VaultConfirmCode.self, vault.confirm)
    case .vaultBackup: return try await reply(VaultBackup.self, backup)
    case .vaultCheck: return try await reply(VaultCheck.self, checkVault)
    case .eventsSubscribe:
      return try await reply(EventsSubscribe.self) { _ throws(AgentFailure) in try await subscribe(caller) }
    }
  }

  private func hello(_: AgentHello) -> AgentHelloAnswer {
    AgentHelloAnswer(protocol: 1, capabilities: Self.capabilities, agentVersion: ProjectVersion.current)
  }

  /// The parameters of `token.get`, a rejected token named by its fingerprint from here on: the request may wait.
  private static func tokenGet(_ request: RequestLine) throws(AgentFailure) -> TokenGet {
    var parameters = try request.parameters(TokenGet.self)
    if let rejected = parameters.rejected {
      parameters.rejected = RejectedToken(fingerprint: try Fingerprint(rejected: rejected).description)
    }
    return parameters
  }

  /// `token.get`, and for `interaction: wait` once more after the login that is under way.
  private func token(_ request: TokenGet) async throws(AgentFailure) -> TokenAnswer {
    do { return try await service.token(request) } catch {
      guard error.kind == .loginRequired, request.interaction == .wait, let account = request.account,
        await logins.isPending(account)
      else { throw error }
      let began = time.now()
      let milliseconds = request.timeoutMilliseconds ?? WireLimits.defaultTimeoutMilliseconds
      await logins.settled(account, seconds: Double(milliseconds) / 1_000)
      var again = request
      again.timeoutMilliseconds = max(1, milliseconds - Int(time.now().seconds(since: began) * 1_000))
      return try await service.token(again)
    }
  }

  private func list(_ request: AccountList) async throws(AgentFailure) -> AccountPage {
    try await service.list(limit: request.limit, after: request.after)
  }

  private func reload(_: ConfigReload) async throws(AgentFailure) -> ConfigReloadAnswer { try await service.reload() }

  // MARK: Events

  package var events: EventFeed { service.events }

  private func subscribe(_ caller: Caller) async throws(AgentFailure) -> EmptyResult {
    guard events.add(caller.connection) else {
      throw AgentFailure(
        .overloaded, "\(WireLimits.subscribers) connections are subscribed to events already",
        hint: "end some of them: each `oauthctl status --watch` is one")
    }
    await service.beginTelling(vault)
    return EmptyResult()
  }

  // MARK: Agent and vault

  /// Answers although the vault cannot be opened: with the accounts of the files then, and the vault's state says why.
  private func status(_ request: AgentStatus) async throws(AgentFailure) -> AgentStatusAnswer {
    var page = AccountPage(accounts: [], next: nil)
    var failed: AgentFailure?
    await service.lookAtRollback()
    do throws(AgentFailure) {
      page = try await service.list(limit: request.limit, after: request.after)
      let own = page.accounts.filter { $0.certificateAuthorityFile != nil }
      if await service.lookAtAuthorities(of: own.map(\.account)) {
        page = try await service.list(limit: request.limit, after: request.after)
      }
    } catch {
      guard error.kind != .badRequest else { throw error }
      failed = error
      page = await service.shutList(error, limit: request.limit, after: request.after)
    }
    var vault = await vaultStatus()
    if let failed, vault.reason == nil { vault.reason = failed.message }
    if vault.state == .locked, vault.reason == nil, let why = await service.unlockFailure {
      (vault.reason, vault.hint) = (why.message, why.hint?.text)
    }
    let (problems, leftOut) = await service.problems.cut
    let conditions = identity.degraded + identity.conditions() + (await service.conditions)
    return AgentStatusAnswer(
      pid: Int(identity.pid), agentVersion: ProjectVersion.current, started: identity.started,
      startedAt: Int(identity.startedAt.wallSeconds), vault: vault,
      degraded: conditions.map(\.message), conditions: conditions.isEmpty ? nil : conditions,
      problems: problems, problemsLeftOut: leftOut, counts: ["accounts": await service.definedCount],
      accounts: page.accounts, next: page.next, folders: identity.folders.isEmpty ? nil : identity.folders,
      log: identity.log)
  }
}
