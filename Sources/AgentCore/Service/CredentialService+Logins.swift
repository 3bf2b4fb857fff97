import AgentWire
import OAuthTerms
import Sealing

/// What a login needs to know of an account.
struct LoginContext: Sendable {
  var definition: AccountDefinition
  /// As it was when the secrets were taken out of it.
  var record: AccountRecord?
  /// The client secret is already in `record`, which is not as it is kept then.
  let given: SecretsForLogin?
  private var bringsClientSecret = false
  private let secretChanges: [SecretKind: Int]

  init(
    definition: AccountDefinition, record: AccountRecord?, given: SecretsForLogin? = nil,
    secretChanges: [SecretKind: Int] = [:]
  ) {
    (self.definition, self.record, self.given) = (definition, record, given)
    self.secretChanges = secretChanges
    if let secret = given?.clientSecret, secret.belongs(to: definition) { take(clientSecret: secret.secret) }
  }

  var clientSecret: Secret? { record?.clientSecret?.secret }

  /// A client secret that is to take the place of the one that is kept.
  mutating func take(clientSecret: Secret) {
    var record = record ?? AccountRecord(name: definition.name)
    record.clientSecretPlace = record.place(definition)
    record.clientSecret = StoredSecret(clientSecret)
    self.record = record
    bringsClientSecret = true
  }

  /// Kept, or given for this once.
  private var password: Secret? { given?.password?.secret ?? record?.password?.secret }

  var secrets: UsedSecrets {
    var used = UsedSecrets(
      clientSecret: clientSecret, password: definition.grant.terms.need == .password ? password : nil)
    (used.bringsClientSecret, used.bringsPassword) = (bringsClientSecret, given?.password?.isKept == true)
    used.changesBefore = secretChanges
    return used
  }
}

extension CredentialService {
  /// With the secrets that were given for the login `secretsID`. Throws `account_unknown`, `config_invalid`, or what opening
  /// the vault throws.
  func loginContext(
    _ account: String, shown: String?, secretsID: String? = nil
  ) async throws(AgentFailure) -> LoginContext {
    try await open()
    let name = try select(account: account, url: nil).name
    await readAuthority(of: name)
    try await checkIsRead(name)
    await sealRegistration(name)
    guard let found = accounts[name], let definition = found.machine.definition else { throw gone(name) }
    try definition.check(isShown: shown)
    let given = try secrets(of: found, for: secretsID)
    found.forgetSecrets(for: secretsID)
    return LoginContext(
      definition: definition, record: found.machine.record, given: given, secretChanges: found.machine.secretChanges)
  }

  /// Makes durable where the secrets of `context` belong, before a login sends them by `binding`. Throws what keeping throws.
  func placeSecrets(_ context: LoginContext, by binding: DefinitionBinding) async throws(AgentFailure) {
    let name = context.definition.name
    let used = context.secrets
    guard let record = accounts[name]?.machine.record else { return }
    var placed = record
    placed.place(used, by: binding)
    // Only a first login has something to write, and waits for no refresh.
    if placed != record { try await change(name, .placeSecrets(used, binding)) }
  }

  /// What was given for the login `secretsID`. Throws `login_cancelled` where it is gone: the login would go by another secret.
  func secrets(of account: Account, for secretsID: String?) throws(AgentFailure) -> SecretsForLogin? {
    let given = account.secrets(for: secretsID)
    guard given != nil || secretsID == nil else {
      throw AgentFailure(
        .loginCancelled,
        "\(account.name): the secret that was given for this login is gone: a lock, a logout, a restart, or other logins"
          + " came between",
        hint: "run the command again")
    }
    return given
  }

  func forgetSecrets(of name: String, for secretsID: String?) { accounts[name]?.forgetSecrets(for: secretsID) }

  /// The login that is there.
  func grant(of name: String) -> GrantRecord? { accounts[name]?.machine.record?.grant }

  /// Makes a new grant durable. Returns whether the agent can renew it by itself. `replacing` is the
  /// `GrantRecord.loginID` that may be replaced, empty for none; nil: any.
  func finishLogin(
    _ name: String, _ grant: GrantRecord, _ token: TokenRecord?, used: UsedSecrets, replacing: String? = nil
  ) async throws(AgentFailure) -> Bool {
    // The machine may have stood still since the tokens came, as while a person was asked.
    let route = ServerRoute(grant.binding)
    await waitForTime(at: route)
    let now = now(at: route)
    var (grant, token) = (grant, token)
    grant.refreshTokenReceived = grant.refreshTokenReceived?.aged(by: now)
    if let received = token?.received { token?.received = received.aged(by: now) }
    if let former = clocks.join(name, route) { waiters.happened(.clock(former)) }
    // While a lock waits for what is under way, the accounts are there.
    guard accounts[name] != nil else { throw gone(name) }
    try await change(name, .login(grant, token, used: used, replacing: replacing))
    return accounts[name]?.machine.isRenewable ?? false
  }

  /// The definition of an account as its file is now.
  func definitionNow(_ name: String) async -> AccountDefinition? {
    _ = await readFiles()
    return accounts[name]?.machine.definition
  }

  /// As it was read last.
  func knownDefinition(_ name: String) -> AccountDefinition? { accounts[name]?.machine.definition }
}
