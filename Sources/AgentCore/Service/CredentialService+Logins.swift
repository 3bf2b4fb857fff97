import AgentWire
import OAuthTerms
import Sealing

/// A password for the next login, and where it was given for.
struct PasswordForOneLogin: Sendable {
  var secret: Secret
  var place: SecretPlace?
  /// It is kept once that login has ended well, in the place of one that is there.
  var isKept = false
}

/// A client secret that takes the place of the one that is kept where the next login ends well, and what the account's file
/// was when it was given. A class: nearly no account has any, and a reference takes a word.
final class ClientSecretForOneLogin: Sendable {
  let secret: Secret
  private let definition: AccountDefinition

  init(_ secret: Secret, for definition: AccountDefinition) { (self.secret, self.definition) = (secret, definition) }

  /// With another file than that it belongs to nobody.
  func belongs(to definition: AccountDefinition) -> Bool { definition == self.definition }
}

/// What a login needs to know of an account.
struct LoginContext: Sendable {
  var definition: AccountDefinition
  /// As it was when the secrets were taken out of it.
  var record: AccountRecord?
  var passwordOnce: PasswordForOneLogin?
  /// Already in `record`, which is not as it is kept then.
  private(set) var clientSecretOnce: ClientSecretForOneLogin?
  private let clientSecretBefore: StoredSecret?
  private var bringsClientSecret = false

  init(
    definition: AccountDefinition, record: AccountRecord?, passwordOnce: PasswordForOneLogin?,
    clientSecretOnce: ClientSecretForOneLogin? = nil
  ) {
    (self.definition, self.record, self.passwordOnce) = (definition, record, passwordOnce)
    clientSecretBefore = record?.clientSecret
    if let clientSecretOnce, clientSecretOnce.belongs(to: definition) {
      self.clientSecretOnce = clientSecretOnce
      take(clientSecret: clientSecretOnce.secret)
    }
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
  private var password: Secret? { passwordOnce?.secret ?? record?.password?.secret }

  var secrets: UsedSecrets {
    var used = UsedSecrets(
      clientSecret: clientSecret, password: definition.grant.terms.need == .password ? password : nil)
    (used.bringsClientSecret, used.clientSecretBefore) = (bringsClientSecret, clientSecretBefore)
    (used.bringsPassword, used.passwordBefore) = (passwordOnce?.isKept == true, record?.password)
    return used
  }
}

extension CredentialService {
  /// Secrets that were given for one login are taken where `takesOnce` says so. Throws `account_unknown`,
  /// `config_invalid`, or what opening the vault throws.
  func loginContext(
    _ account: String, shown: String?, takesOnce: Bool = true
  ) async throws(AgentFailure) -> LoginContext {
    try await open()
    let name = try select(account: account, url: nil).name
    await readAuthority(of: name)
    try await checkIsRead(name)
    await sealRegistration(name)
    guard let found = accounts[name], let definition = found.machine.definition else { throw gone(name) }
    try definition.check(isShown: shown)
    guard takesOnce else {
      return LoginContext(definition: definition, record: found.machine.record, passwordOnce: nil)
    }
    let context = LoginContext(
      definition: definition, record: found.machine.record, passwordOnce: found.passwordOnce,
      clientSecretOnce: found.clientSecretOnce)
    found.forgetSecretsForOnce()
    return context
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

  /// Whether secrets wait for the account's next login.
  func hasSecretsForOnce(_ name: String) -> Bool { accounts[name]?.hasSecretsForOnce ?? false }

  func forgetSecretsForOnce(_ name: String) { accounts[name]?.forgetSecretsForOnce() }

  /// The login that is there.
  func grant(of name: String) -> GrantRecord? { accounts[name]?.machine.record?.grant }

  /// Makes a new grant durable. Returns whether the agent can renew it by itself. `replacing` is the
  /// `GrantRecord.loginID` that may be replaced, empty for none; nil: any.
  func finishLogin(
    _ name: String, _ grant: GrantRecord, _ token: TokenRecord?, used: UsedSecrets, replacing: String? = nil
  ) async throws(AgentFailure) -> Bool {
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
