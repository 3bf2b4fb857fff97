package import AgentWire
import Logging
import OAuthProtocol
import OAuthTerms
import Sealing

extension LoginCoordinator {
  /// Seals what the login of another program has given. No token is sent here: who asks for a token next uses the refresh
  /// token, by the rules of every refresh. The same is bound, and has to be agreed to, as by a login.
  package func take(_ request: AccountImport) async throws(AgentFailure) -> AccountImportAnswer {
    let name = request.account
    let isDryRun = request.dryRun == true
    if let secret = request.clientSecret { try service.checkSecret(secret, "client_secret", isClients: true) }
    if !isDryRun { try Self.check(request) }
    guard !isBusy(name) else {
      throw AgentFailure(.loginPending, "\(name): a login is under way", hint: "try again when it has ended")
    }
    let epoch = epoch
    var context = try await service.loginContext(name, shown: request.definitionDigest)
    let definition = context.definition
    if let secret = request.clientSecret {
      try await service.checkHasNoKey(name)
      context.take(clientSecret: Secret(secret))
    }
    guard definition.grant.terms.bringsRefreshToken else {
      throw AgentFailure(
        .configInvalid, "\(name): the \(definition.grant.rawValue) grant has no login that could be imported",
        hint: .run("oauthctl login \(name)"))
    }
    guard !definition.usesDPoP else {
      throw AgentFailure(
        .configInvalid,
        "\(name): its tokens are to be bound to a key of this agent (DPoP), which those of another program are not",
        hint: .run("oauthctl login \(name)"))
    }
    let now = time.now()
    let server = try await service.resolver(for: name).resolve(definition, device: false, isMade: true, now: now)
    let binding = try server.binding(definition, hasSecret: context.clientSecret != nil)
    let agreement = await service.agreement(context, binding)
    let before = context.record?.grant
    var answer = AccountImportAnswer(
      differences: agreement.differences, bindingDigest: agreement.digest,
      endpoints: binding.endpoints, issuer: binding.issuer, login: before?.loginID, host: before?.binding.issuerHost)
    if isDryRun { return answer }
    _ = try await service.checkLogin(context, binding, agreed: request.bindingDigest)
    guard request.bindingDigest ?? agreement.digest == agreement.digest else { throw .changedMeanwhile(name) }
    guard request.replaces ?? "" == before?.loginID ?? "" else {
      throw AgentFailure(
        .definitionChanged, "\(name): another login is there than the one to be replaced; nothing is imported",
        hint: .run("oauthctl status"))
    }
    guard epoch == self.epoch else { throw .vaultLocked }
    guard !isBusy(name) else {
      throw AgentFailure(.loginPending, "\(name): a login has begun meanwhile", hint: "try again when it has ended")
    }
    let scope = request.scope ?? definition.scope
    let life = request.expiresAt.map { Double($0) - now.wallSeconds }
    let token = request.accessToken.flatMap { token in
      life.map { $0 > 0 } == false
        ? nil
        : TokenRecord(
          key: .standard, accessToken: Secret(token), tokenType: "Bearer", scope: scope, received: now,
          lifeSeconds: life)
    }
    guard request.refreshToken != nil || token != nil else {
      throw AgentFailure(
        .badRequest, "\(name): its access token has ended, and there is no refresh token; nothing is imported",
        hint: .run("oauthctl login \(name)"))
    }
    var grant = GrantRecord(
      kind: definition.grant, refreshToken: request.refreshToken.map { StoredSecret(Secret($0)) },
      refreshTokenReceived: request.refreshToken == nil ? nil : now, refreshTokenLifeSeconds: nil, scope: scope,
      loggedIn: now, binding: binding)
    grant.givenToken = grant.refreshToken.map { Fingerprint(of: $0.secret).description }
    let (made, secrets) = (grant, context.secrets)
    let give = { @Sendable [service] () async throws(AgentFailure) in
      try await service.finishLogin(name, made, token, used: secrets, replacing: request.replaces ?? "")
    }
    answer.renewable = try await service.giving(grant.refreshToken?.secret, of: binding, to: name, give)
    logger.info(
      "imported a login", metadata: ["event": "imported", "account": "\(name)", "issuer": "\(binding.issuer)"])
    return answer
  }

  private static func check(_ request: AccountImport) throws(AgentFailure) {
    func bad(_ text: String) -> AgentFailure { AgentFailure(.badRequest, text) }
    guard request.refreshToken != nil || request.accessToken != nil else {
      throw bad("refresh_token or access_token is needed")
    }
    for (name, token) in [("refresh_token", request.refreshToken), ("access_token", request.accessToken)] {
      // RFC 6749 appendix A.12 and A.17.
      guard let token else { continue }
      guard (1...WireLimits.tokenBytes).contains(token.utf8.count),
        token.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
      else { throw bad("\(name) has 1 to \(WireLimits.tokenBytes) printable ASCII characters") }
    }
    if let token = request.accessToken, token.utf8.contains(0x20) { throw bad("access_token holds a blank") }
    if let scope = request.scope {
      guard scope.count <= AccountImport.scopeLimit, scope.allSatisfy(ScopeList.isToken) else {
        throw bad("scope has up to \(AccountImport.scopeLimit) values as RFC 6749 section 3.3 has them")
      }
    }
    if let end = request.expiresAt, !(0...253_402_300_799).contains(end) { throw bad("expires_at is no Unix time") }
  }
}
