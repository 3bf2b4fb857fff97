package import AgentWire
import Sealing

extension CredentialService {
  package func forget(_ request: AccountForget) async throws(AgentFailure) -> AccountForgetAnswer {
    try await open()
    guard let account = accounts[request.account] else {
      // As a list has them: of one that is logged out and has no file, only what its server has to be told is kept.
      throw AccountSelection.unknown(
        request.account, accounts.values.filter { $0.machine.definition != nil || isLoginAlone($0) }.map(\.name))
    }
    var answer = AccountForgetAnswer()
    if request.dryRun == true {
      answer = kept(account)
    } else {
      await sealRegistration(account.name)
      guard request.isAbout(kept(account)) else { throw AgentFailure.changedMeanwhile(account.name) }
      let began = time.now()
      let isClientTold = !deletableClients(account).isEmpty
      let shown = request.secrets?.map { SecretKind(rawValue: $0) ?? .clientSecret }
      try await change(account.name, .forget(login: request.login, secrets: shown))
      account.secretsForLogins = []
      account.registration = nil
      if isClientTold { await tellDeletion(of: account.name, since: began, in: &answer) }
    }
    let left = accounts[account.name]?.machine.record?.revocations.count { $0.clientURI == nil } ?? 0
    answer.revocations = left > 0 ? left : nil
    return answer
  }

  /// What would be deleted with `account`.
  private func kept(_ account: Account) -> AccountForgetAnswer {
    let record = account.machine.record
    var kept = AccountForgetAnswer(login: record?.grant?.loginID)
    kept.host = record?.loginMayLive(at: now(account)) == true ? record?.grant?.binding.issuerHost : nil
    kept.clientHosts = clientHosts(account)
    kept.secrets = keptSecrets(account)
    let isKept = record?.grant != nil || kept.secrets != nil || record?.registrations != nil
    kept.kept = isKept || account.registration != nil ? true : nil
    let borrowers = borrowers(of: account.name)
    kept.borrowers = borrowers.isEmpty ? nil : borrowers
    return kept
  }

  /// As the protocol names it: a private key is kept in the place of a client secret.
  private func keptSecrets(_ account: Account) -> [String]? {
    guard let record = account.machine.record, !record.keptSecrets.isEmpty else { return nil }
    let isKey = record.clientSecret.flatMap(Self.publicKey) != nil
    return record.keptSecrets.map { $0 == .clientSecret && isKey ? AccountCheckAnswer.privateKey : $0.rawValue }
  }

  /// The clients that were registered for `account` and can be deleted at their servers.
  private func deletableClients(_ account: Account) -> [ClientRegistrationRecord] {
    account.machine.record?.registrations?.filter { $0.deletion(at: time.now()) != nil } ?? []
  }

  /// Where, but for those that another account is known by.
  private func clientHosts(_ account: Account) -> [String]? {
    let hosts = deletableClients(account).filter { otherUser(of: $0.binding, than: account.name) == nil }
      .map(\.binding.issuerHost)
    return hosts.isEmpty ? nil : Set(hosts).sorted()
  }

  /// Waits, for as long as a logout does, until the client that was registered for `name` is deleted at its server.
  private func tellDeletion(of name: String, since: Moment, in answer: inout AccountForgetAnswer) async {
    let ends = await revocations(name, since: since, seconds: Self.revocationWaitSeconds).ended
    switch ends.last(where: { $0.revocation.clientURI != nil })?.end {
    case .revoked: answer.client = .deleted
    case .refused(let reason): (answer.client, answer.clientReason) = (.refused, reason)
    case .later(let reason, _), .clientRefused(let reason): (answer.client, answer.clientReason) = (.pending, reason)
    // Something else is told to its server first, or a lock came.
    case nil: answer.client = .pending
    }
  }
}
