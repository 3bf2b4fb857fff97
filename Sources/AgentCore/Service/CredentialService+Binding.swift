package import AgentWire
import OAuthTerms

/// What a person is shown is what is bound: both are the same ``BindingConsent``, by its digest.
extension CredentialService {
  package func accept(_ request: AccountAccept) async throws(AgentFailure) -> AccountAcceptAnswer {
    try await open()
    let name = try select(account: request.account, url: nil).name
    await readAuthority(of: name)
    try await checkIsRead(name)
    if request.login == true { return try await loginPreview(name, request) }
    guard let machine = accounts[name]?.machine, let definition = machine.definition, machine.record?.grant != nil
    else {
      throw AgentFailure(.loginRequired, "\(name): there is no login to bind", hint: .run("oauthctl login \(name)"))
    }
    guard !machine.differences.isEmpty else {
      // The file is as it was: what changed is another account's login.
      if let fault = machine.lenderFault { throw fault }
      return AccountAcceptAnswer(differences: [], accepted: false)
    }
    if let grant = machine.record?.grant, let change = grant.kind.differences(to: definition.grant).first {
      throw AgentFailure(
        .definitionChanged, "\(name): its grant was \(change.was) and is \(change.now) now; that needs a new login",
        hint: .run("oauthctl login \(name)"))
    }
    if let grant = machine.record?.grant, grant.binding.isBound != definition.usesDPoP {
      throw AgentFailure(
        .definitionChanged,
        "\(name): its tokens are \(grant.binding.isBound ? "" : "not ")bound to a key (DPoP); to change that needs a new login",
        hint: .run("oauthctl login \(name)"))
    }
    let server = try await resolver(for: name).resolve(definition, device: false, now: time.now())
    guard let now = accounts[name]?.machine, now.definition == definition, let grant = now.record?.grant else {
      throw AgentFailure.changedMeanwhile(name)
    }
    var (binding, lenders) = try withLenders(
      server.binding(definition, hasSecret: now.record?.clientSecret != nil), of: name)
    // A person reads each of them.
    binding.publicOnly = nil
    let agreement = BindingConsent(
      binding: binding, differences: grant.binding.differences(to: binding), logins: [grant.loginID] + lenders,
      secrets: SecretOrders(now.record))
    var answer = AccountAcceptAnswer(agreement, definition.grant)
    if request.dryRun == true { return answer }
    guard let agreed = request.bindingDigest else {
      throw AgentFailure(
        .definitionChanged, "\(name): the request does not say which change it accepts",
        hint: "ask with dry_run first, and send its binding_digest")
    }
    guard agreed == agreement.digest else { throw AgentFailure.changedMeanwhile(name) }
    try await change(
      name,
      .accept(
        binding, from: grant.binding, shown: definition, login: grant.loginID, lenders: lenders,
        secrets: agreement.secrets))
    answer.accepted = true
    return answer
  }

  /// What `login.start` would bind.
  private func loginPreview(
    _ name: String, _ request: AccountAccept
  ) async throws(AgentFailure) -> AccountAcceptAnswer {
    guard request.dryRun == true else {
      throw AgentFailure(
        .badRequest, "login is allowed with dry_run only", hint: "login.start takes the binding_digest")
    }
    guard let definition = accounts[name]?.machine.definition else { throw AgentFailure.changedMeanwhile(name) }
    try definition.check(isShown: request.definitionDigest)
    let device = definition.giver(device: request.device == true) == .device
    let server = try await resolver(for: name).resolve(definition, device: device, now: time.now())
    let account = accounts[name]
    let given = try account.flatMap { (account) throws(AgentFailure) in try secrets(of: account, for: request.secretsID)
    }
    let context = LoginContext(definition: definition, record: account?.machine.record, given: given)
    let (binding, lenders) = try withLenders(
      server.binding(definition, hasSecret: context.clientSecret != nil), of: name)
    return AccountAcceptAnswer(agreement(context, binding, lenders: lenders), definition.grant)
  }

  /// What a login of `context` with `binding` would change. `lenders`: `GrantRecord.loginID` of those that lend to it.
  func agreement(
    _ context: LoginContext, _ binding: DefinitionBinding, lenders: [String] = []
  ) -> BindingConsent {
    BindingConsent(
      binding: binding,
      differences: loginDifferences(context.record, context.given?.password, binding, context.definition),
      logins: lenders, secrets: SecretOrders(context.record))
  }

  /// Of a password that is used once, too.
  private func loginDifferences(
    _ record: AccountRecord?, _ once: PasswordForOneLogin?, _ binding: DefinitionBinding,
    _ definition: AccountDefinition
  ) -> [DefinitionDifference] {
    var found = record?.loginDifferences(to: binding, of: definition) ?? []
    if record?.grant == nil, record?.formerBinding == nil {
      // Even of the first login: a token of another account goes where none of this one was.
      found += LentTokens.differences(nil, binding.request?.lent)
    }
    found.append(once?.place?.differences(to: binding, of: definition) ?? [], of: .password)
    return found
  }

  /// Throws `definition_changed` when a login with `binding` would send what is kept, or what it gets, elsewhere than
  /// before and nobody has agreed to just that. Returns the digest of what a person would be shown.
  func checkLogin(
    _ context: LoginContext, _ binding: DefinitionBinding, lenders: [String] = [], agreed: String?
  ) throws(AgentFailure) -> String {
    let name = context.definition.name
    let agreement = agreement(context, binding, lenders: lenders)
    let (shown, differences) = (agreement.digest, agreement.differences)
    guard !differences.isEmpty, agreed != shown else { return shown }
    // The person gave it for this login, which is asked for once more.
    if let given = context.given { accounts[name]?.keepSecrets(for: given.id, at: time.now()) { $0 = given } }
    let keys = differences.map(\.key).joined(separator: ", ")
    guard agreed == nil else { throw AgentFailure.changedMeanwhile(name) }
    throw AgentFailure(
      .definitionChanged, "\(name): a login would send secrets elsewhere than before (\(keys)); nothing is sent",
      hint: .run("oauthctl login \(name)   # at a terminal it shows the change and asks"))
  }
}

extension AccountDefinition {
  /// Throws `definition_changed` where this was not read from the text with the digest `shown`; nil: nobody was shown one.
  func check(isShown shown: String?) throws(AgentFailure) {
    guard shown == nil || shown == textDigest else { throw AgentFailure.changedMeanwhile(name) }
  }
}

extension AccountAcceptAnswer {
  /// Of the endpoints those that `grant` uses.
  fileprivate init(_ shown: BindingConsent, _ grant: GrantKind) {
    let ofPeople = ["authorization_endpoint", "device_authorization_endpoint", "pushed_authorization_request_endpoint"]
    self.init(
      differences: shown.differences, accepted: false, bindingDigest: shown.digest,
      endpoints: shown.binding.endpoints.filter { !grant.isUnattended || !ofPeople.contains($0.key) })
  }
}

extension AgentFailure {
  /// What a person has agreed to is not what is there by now.
  static func changedMeanwhile(_ account: String) -> AgentFailure {
    AgentFailure(
      .definitionChanged, "\(account): it has changed since it was shown; nothing was accepted",
      hint: "look at it again")
  }

  /// A secret was typed for another server than would get it by now.
  static func secretMisplaced(_ account: String) -> AgentFailure {
    AgentFailure(
      .definitionChanged, "\(account): the secret was asked for another server than the file names now; it is not kept",
      hint: "look at what changed (oauthctl account show \(account)), then give it again")
  }
}
