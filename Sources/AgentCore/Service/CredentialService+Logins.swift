import AgentWire
import Sealing

/// What a login needs to know of an account.
struct LoginContext: Sendable {
  var definition: AccountDefinition
  var clientSecret: Secret?
  /// Kept, or given for this once.
  var password: Secret?
}

extension CredentialService {
  /// Throws `account_unknown`, `config_invalid`, or what opening the vault throws.
  func loginContext(_ account: String) async throws(AgentFailure) -> LoginContext {
    try await open()
    let (name, _) = try select(account: account, url: nil)
    guard let found = accounts[name], let definition = found.machine.definition else {
      throw AgentFailure(.accountUnknown, "\(name): no such account")
    }
    let record = found.machine.record
    let once = found.passwordOnce
    accounts[name]?.passwordOnce = nil
    return LoginContext(
      definition: definition, clientSecret: record?.clientSecret?.secret, password: once ?? record?.password?.secret)
  }

  /// Makes a new grant durable. Returns whether the agent can renew it by itself.
  func finishLogin(_ name: String, _ grant: GrantRecord, _ token: TokenRecord) async throws(AgentFailure) -> Bool {
    if isLocked { throw .vaultLocked }
    guard accounts[name] != nil else { throw AgentFailure(.accountUnknown, "\(name): the account is gone") }
    try await change(name, .login(grant, token))
    return accounts[name]?.machine.isRenewable ?? false
  }
}
