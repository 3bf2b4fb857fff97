package import AgentWire
import OAuthProtocol
import OAuthTerms
import Sealing
import Signing

extension CredentialService {
  /// Seconds that `logout` waits for the server before it answers `pending`: a person waits no longer, and it is tried
  /// on.
  static let revocationWaitSeconds = 10.0

  // MARK: Accounts

  package func show(_ request: AccountShow) async throws(AgentFailure) -> AccountDetails {
    try await open()
    let name = try select(account: request.account, url: nil).name
    let authority = request.withAuthority == true ? try await self.authority(of: name) : nil
    guard let account = accounts[name], let definition = account.machine.definition,
      let summary = summary(name)
    else { throw AgentFailure(.accountUnknown, "\(name): no such account") }
    let record = account.machine.record
    let grant = record?.grant
    var endpoints: [String: String] = [:]
    endpoints["authorization_endpoint"] = grant?.binding.authorizationEndpoint ?? definition.authorizationEndpoint
    endpoints["token_endpoint"] = grant?.binding.tokenEndpoint ?? definition.tokenEndpoint
    endpoints["device_authorization_endpoint"] =
      grant?.binding.deviceAuthorizationEndpoint ?? definition.deviceAuthorizationEndpoint
    endpoints["revocation_endpoint"] = grant?.binding.revocationEndpoint ?? definition.revocationEndpoint
    endpoints["pushed_authorization_request_endpoint"] =
      grant?.binding.pushedAuthorizationRequestEndpoint ?? definition.pushedAuthorizationRequestEndpoint
    let secrets = SecretKind.allCases.filter { record?.keeps($0) == true }.map(\.rawValue)
    var details = AccountDetails(
      summary: summary, file: definition.file, endpoints: endpoints, secrets: secrets,
      differences: account.machine.differences, problems: problems.about(name),
      loggedInAt: grant.map { Int($0.loggedIn.wallSeconds) }, refreshedAt: grant?.refreshed.map { Int($0.wallSeconds) },
      fingerprint: record?.token(.standard)?.fingerprint.description)
    details.login = grant?.loginID
    details.authority = authority
    details.publicKey = record?.clientSecret.flatMap(Self.publicKey)
    details.identityConcern = grant?.identity?.concern
    let missing = grant?.notGranted(definition) ?? []
    details.missingScope = missing.isEmpty ? nil : missing
    details.loginPending = pendingLogins.contains(name) ? true : nil
    details.clientRegistered = record?.registration(of: definition) == nil ? nil : true
    details.resource = definition.resource.isEmpty ? nil : definition.resource
    details.audience = definition.audience.isEmpty ? nil : definition.audience
    details.grantType = definition.grantType
    details.lent = definition.lent?.names
    details.clientAuthentication = definition.clientAuthentication ?? grant?.binding.clientAuthentication
    return details
  }

  package func check(_ request: AccountCheck) async throws(AgentFailure) -> AccountCheckAnswer {
    try await open()
    let definition: AccountDefinition
    switch await configuration.definition(name: request.account, text: request.definition) {
    case .failure(let found): return AccountCheckAnswer(problems: found.problems)
    case .success(let read): definition = read
    }
    var answer = AccountCheckAnswer(
      problems: [], issuer: definition.issuer, host: definition.host,
      grant: definition.grant.rawValue)
    answer.definitionDigest = definition.textDigest
    answer.differences = DefinitionBinding.nothing.differences(from: definition)
    answer.missingSecrets = missingSecrets(definition)
    let place = secretPlace(definition)
    answer.secretPlace = place.digest
    answer.secretURLs = place.urls
    guard request.discover ?? true else { return answer }
    let server = try await ServerResolver(transport: ObservedTransport(service: self, account: nil))
      .resolve(definition, device: false, now: time.now())
    answer.discovery = server.discovery ?? "none"
    answer.deviceFlow = server.deviceAuthorizationEndpoint != nil
    if let binding = try? server.binding(definition, hasSecret: true) {
      answer.secretURLs = place.completed(by: [binding]).urls
    }
    let record = accounts[definition.name]?.machine.record
    answer.concerns =
      AccountConcerns.found(
        definition, server, keepsSecret: record?.keeps(.clientSecret) == true,
        hadRefreshToken: record?.grant?.refreshTokenReceived != nil,
        certificateIsOver: definition.showsCertificate && Self.isCertificateOver(record?.clientSecret, at: time.now()))
      + lenderConcerns(definition)
    return answer
  }

  // MARK: Secrets

  package func setSecret(_ request: SecretSet) async throws(AgentFailure) -> EmptyResult {
    try await open(looksAtFiles: false)
    let name = try select(account: request.account, url: nil).name
    try checkSecret(request.value, "value", isClients: request.kind == .clientSecret)
    try await checkIsRead(name)
    if let shown = request.secretPlace { try await check(shown, of: name) }
    let place = accounts[name]?.machine.definition.map { secretPlace($0) }
    if request.kind == .clientSecret { try checkHasNoKey(name) }
    if let id = request.secretsID {
      guard (1...64).contains(id.utf8.count), request.kind != .refreshToken else {
        throw AgentFailure(.badRequest, "secrets_id has 1 to 64 bytes, and is for client_secret and password")
      }
      for account in accounts.values { account.forgetOldSecrets(at: time.now()) }
      let isOneMore = accounts[name]?.hasRoom(forSecretsOf: id) == true
      guard !isOneMore || accounts.values.reduce(0, { $0 + $1.secretsForLogins.count }) < SecretsForLogin.mostTogether
      else {
        throw AgentFailure(
          .overloaded, "\(name): secrets wait for \(SecretsForLogin.mostTogether) logins already",
          hint: "try again later")
      }
      let definition = accounts[name]?.machine.definition
      accounts[name]?.keepSecrets(for: id, at: time.now()) { secrets in
        let secret = Secret(request.value)
        if request.kind == .password {
          secrets.password = PasswordForOneLogin(secret: secret, place: place, isKept: request.keep == true)
        } else {
          secrets.clientSecret = definition.map { ClientSecretForOneLogin(secret, for: $0) }
        }
      }
      return EmptyResult()
    }
    guard request.kind != .password || request.keep == true else {
      throw AgentFailure(.badRequest, "a password is kept (keep), or is for one login (secrets_id)")
    }
    if request.kind == .refreshToken, accounts[name]?.machine.record?.grant == nil {
      throw AgentFailure(
        .loginRequired, "\(name): there is no login for it", hint: .run("oauthctl login \(name)"))
    }
    if request.kind == .refreshToken, accounts[name]?.machine.record?.grant?.binding.isBound == true {
      throw AgentFailure(
        .configInvalid, "\(name): its tokens are bound to a key of this agent (DPoP), which one from elsewhere is not",
        hint: .run("oauthctl login \(name)"))
    }
    let secret = Secret(request.value)
    let change = AccountChange.setSecret(request.kind, secret, place: place?.digest, login: request.login)
    let give = { @Sendable () async throws(AgentFailure) in try await self.change(name, change) }
    let binding = accounts[name]?.machine.record?.grant?.binding
    try await giving(request.kind == .refreshToken ? secret : nil, of: binding, to: name, give)
    return EmptyResult()
  }

  package func forgetSecret(_ request: SecretForget) async throws(AgentFailure) -> EmptyResult {
    try await open()
    let name = try select(account: request.account, url: nil).name
    accounts[name]?.secretsForLogins = []
    var shown: StoredSecret?
    if let publicKey = request.publicKey {
      shown = accounts[name]?.machine.record?.clientSecret
      guard shown.flatMap(Self.publicKey) == publicKey else { throw .changedMeanwhile(name) }
    }
    try await change(name, .forgetSecret(request.kind, shown: shown))
    return EmptyResult()
  }

  /// The public half of a private key, a JWK; nil: `secret` is none.
  static func publicKey(_ secret: StoredSecret) -> String? {
    (try? ClientKey(stored: secret.secret))?.publicJWK
  }

  private static func isCertificateOver(_ secret: StoredSecret?, at now: Moment) -> Bool {
    let certificate = secret.flatMap { try? ClientKey(stored: $0.secret) }?.certificate
    return certificate.map { Double($0.ends) < now.wallSeconds } ?? false
  }

  /// `parameter` is what the caller calls it.
  nonisolated func checkSecret(_ value: String, _ parameter: String, isClients: Bool) throws(AgentFailure) {
    let most = isClients ? OAuthClient.longestSecretBytes : WireLimits.tokenBytes
    guard (1...most).contains(value.utf8.count) else {
      throw AgentFailure(.badRequest, "\(parameter) has 1 to \(most) bytes")
    }
    guard !value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
      throw AgentFailure(
        .badRequest, "\(parameter) holds a control character", hint: "give it without the line break at its end")
    }
  }

  /// A client that proves itself by a key has no secret beside it.
  func checkHasNoKey(_ name: String) throws(AgentFailure) {
    guard
      hasPrivateKey(name) || accounts[name]?.machine.record?.clientSecret.map({ ClientKey.isStored($0.secret) }) == true
    else { return }
    throw AgentFailure(
      .badRequest,
      "\(name): its client proves itself by a private key, and a client secret would take the place of that",
      hint: .run("oauthctl key delete \(name)   # or, for another key: oauthctl key import \(name) < FILE"))
  }

  func secretPlace(_ definition: AccountDefinition) -> SecretPlace {
    (accounts[definition.name]?.machine.record ?? AccountRecord(name: definition.name)).place(definition)
  }

  /// Throws `definition_changed` when a secret of `name` would not belong where somebody was shown.
  func check(_ shown: String, of name: String) async throws(AgentFailure) {
    func isThere() -> Bool { accounts[name]?.machine.definition.map { secretPlace($0).digest } == shown }
    if isThere() { return }
    // What was shown was read from the file, which may be newer than what is known here.
    _ = await readFiles()
    guard isThere() else { throw AgentFailure.secretMisplaced(name) }
  }

  private func missingSecrets(_ definition: AccountDefinition) -> [String] {
    let record = accounts[definition.name]?.machine.record
    let method = definition.clientAuthentication.flatMap(ClientAuthenticationMethod.init)
    var needed: [SecretKind] = method?.needsSecret == true ? [.clientSecret] : []
    if let kind = definition.grant.terms.need.flatMap(SecretKind.init), !needed.contains(kind) { needed.append(kind) }
    return needed.filter { record?.keeps($0) != true }
      .map { $0 == .clientSecret && definition.needsPrivateKey ? AccountCheckAnswer.privateKey : $0.rawValue }
  }

  // MARK: Logout

  package func logout(_ request: Logout) async throws(AgentFailure) -> LogoutAnswer {
    try await open()
    // A login without a file is ended as well: what it is bound to is sealed with it.
    let isAlone = accounts[request.account].map(isLoginAlone) ?? false
    let name = isAlone ? request.account : try select(account: request.account, url: nil).name
    guard let grant = accounts[name]?.machine.record?.grant else {
      return await earlierLogout(of: name)
    }
    let began = now(name)
    accounts[name]?.secretsForLogins = []
    try await change(name, .logout(asked: began))
    guard grant.binding.revocationEndpoint != nil else { return LogoutAnswer(revocation: .unsupported) }
    let (ends, open) = await revocations(name, since: began, seconds: Self.revocationWaitSeconds)
    return Self.answer(ends, open: open, name)
  }

  /// What came of the logout before, as far as this agent has seen it; `none` where nothing is left of that login.
  private func earlierLogout(of name: String) async -> LogoutAnswer {
    let isPending = accounts[name]?.machine.record?.revocations.contains { $0.clientURI == nil } == true
    guard let since = accounts[name]?.revoked.last(where: { $0.revocation.clientURI == nil })?.revocation.since else {
      return LogoutAnswer(revocation: isPending ? .pending : .none)
    }
    let (ends, open) = await revocations(name, since: since, seconds: 0)
    let answer = Self.answer(ends, open: open, name)
    return answer.revocation == .revoked ? LogoutAnswer(revocation: .none) : answer
  }

  /// `open` is how many tokens are still to be revoked at the server.
  private static func answer(
    _ ends: [(revocation: RevocationRecord, end: RevocationEnd)], open: Int, _ name: String
  ) -> LogoutAnswer {
    if let later = ends.first(where: { !$0.end.isFinal }) {
      switch later.end {
      case .clientRefused(let reason):
        let advice = "set the right client secret, and it is tried again: oauthctl secret set \(name) client_secret"
        return LogoutAnswer(revocation: .pending, reason: "\(reason); \(advice)")
      case .later(let reason, _): return LogoutAnswer(revocation: .pending, reason: reason)
      case .revoked, .refused: break
      }
    }
    if ends.isEmpty || open > 0 {
      return LogoutAnswer(revocation: .pending, reason: "the server has not answered yet")
    }
    // The refresh token, where there is one, comes first: what is said of it is what counts.
    var refusal: (revocation: RevocationRecord, reason: String)?
    for (revocation, end) in ends {
      if refusal == nil, case .refused(let reason) = end { refusal = (revocation, reason) }
    }
    guard let refusal else { return LogoutAnswer(revocation: .revoked) }
    guard refusal.revocation.hint == "access_token", ends.contains(where: { $0.revocation.hint == "refresh_token" })
    else { return LogoutAnswer(revocation: .refused, reason: refusal.reason) }
    let left = refusal.revocation.lifeSeconds.map { " for \(Int($0.rounded(.up))) s more at most" } ?? ""
    return LogoutAnswer(
      revocation: .revoked, reason: "but an access token may live on\(left): \(refusal.reason)")
  }
}
