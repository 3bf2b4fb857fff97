import AgentWire
import Logging
import OAuthProtocol

/// Revocations beside logins: a server may end any login of the same person and client with a token of it. So what a logout
/// could not tell its server goes before the next login, or waits for that one's end.
extension CredentialService {
  /// Seconds that the beginning of a login waits for what its server is told first.
  private static let beforeLoginSeconds = 5.0
  /// Other accounts that are asked to tell it, at most: the login itself waits for a place at that server behind them.
  private static let othersBeforeLogin = 4
  /// Seconds that a login waits with its code for a revocation under way: a code does not last long.
  private static let underWaySeconds = 15.0

  /// Has the server of `binding` told what earlier logouts could not tell it, first of all those of `name`. What is not told
  /// now waits for the end of the login that is beginning.
  func revoke(before binding: DefinitionBinding, of name: String) async {
    let login = LoginAtServer(underWayBy: binding)
    let owing = accounts.values.filter { $0.machine.record?.revocations.contains(where: login.mayEnd) == true }
    let others = owing.filter { $0.name != name }.prefix(Self.othersBeforeLogin)
    for account in owing.filter({ $0.name == name }) + others { event(account, .revocationAsked(before: login)) }
    await wait(seconds: Self.beforeLoginSeconds) { account in
      let machine = account.machine
      if machine.revocationQueue.sending.map(login.mayEnd) == true { return true }
      // The end of one is being noted, and the next one follows.
      return machine.isSaving && machine.record?.revocations.contains(where: login.mayEnd) == true
    }
  }

  /// A server may take a revocation in hand after it has given the tokens of a login by `binding`. Those that have no
  /// place yet are not sent while it is under way.
  func waitForRevocations(by binding: DefinitionBinding) async {
    let login = LoginAtServer(underWayBy: binding)
    await wait(seconds: Self.underWaySeconds) { account in
      account.isRevocationSent && account.machine.revocationQueue.sending.map(login.mayEnd) == true
    }
  }

  /// Waits until no account has a revocation under way that `isMeant`.
  private func wait(seconds: Double, while isMeant: (Account) -> Bool) async {
    let end = time.now().bootSeconds + seconds
    while let account = accounts.values.first(where: isMeant) {
      let left = end - time.now().bootSeconds
      guard left > 0 else { return }
      await wait(for: .revocation(account.name), seconds: left)
    }
  }

  /// Why `revocation`, which has its place now, is not sent after all; nil: it is.
  func obstacle(to revocation: RevocationRecord, of name: String) -> String? {
    guard let account = accounts[name] else { return "its account is gone" }
    if revocation.clientURI != nil {
      if let user = user(of: revocation.binding, by: account) {
        return "\(user.name) is to be logged in by that client"
      }
      if let reason = keepsClient(of: revocation, name) { return reason }
    }
    let next = account.machine.record?.nextRevocations(beside: loginsToSpare(beside: account), at: now(account)) ?? []
    account.isRevocationSent = next.contains(revocation)
    return account.isRevocationSent ? nil : "it might end a login that has begun since"
  }

  /// Logins of other accounts, and those under way, that what `account` has to revoke could end.
  func loginsToSpare(beside account: Account) -> [LoginAtServer] {
    let revocations = account.machine.revocationsAtHand
    guard revocations.contains(where: { $0.clientURI == nil }) else { return [] }
    func isMeant(_ login: LoginAtServer) -> Bool { revocations.contains(where: login.mayEnd) }
    let clients = Set(revocations.map(\.binding.clientID))
    return living(by: clients, but: account.name).filter(isMeant) + loginsUnderWay.filter(isMeant)
  }

  private var loginsUnderWay: [LoginAtServer] {
    pendingLogins.bindings.map { LoginAtServer(underWayBy: $0) }
  }

  /// Why the client of `deletion` is not deleted yet: it is to revoke tokens, and after that it revokes none. Nil: it is not.
  func keepsClient(of deletion: RevocationRecord, _ name: String) -> String? {
    if underWay.bringsTokens(of: deletion.binding.clientID) { return "tokens of a login by it are on their way" }
    let debtor = accounts.values.first {
      $0.name != name && $0.machine.record?.owesTokens(before: deletion) == true
    }
    return debtor.map { "what \($0.name) has still to revoke goes first" }
  }

  /// Logins of other accounts than `name` that live, by `clients`.
  private func living(by clients: Set<String>, but name: String) -> [LoginAtServer] {
    clients.flatMap { livingLogins[$0] ?? [] }.compactMap { other in
      other == name ? nil : accounts[other].flatMap { login(of: $0) }
    }
  }

  private func login(of account: Account, isOwn: Bool = false) -> LoginAtServer? {
    account.machine.record.flatMap { LoginAtServer($0, isOwn: isOwn, at: now(account)) }
  }

  /// Notes whether the login of `account` lives. What has waited for its end may be due then.
  func noteLife(of account: Account) {
    let record = account.machine.record
    let (client, before) = (
      record?.loginMayLive(at: now(account)) == true ? record?.grant?.binding.clientID : nil, account.livingClient
    )
    guard client != before else { return }
    account.livingClient = client
    if let client { livingLogins[client, default: []].insert(account.name) }
    guard let before else { return }
    livingLogins[before]?.remove(account.name)
    if livingLogins[before]?.isEmpty == true { livingLogins[before] = nil }
    wakeRevocations(by: before)
  }

  /// Whether something waits for the end of the login of `name` to be revoked.
  func holdsRevocations(_ name: String) -> Bool {
    guard let account = accounts[name], let login = login(of: account), let own = self.login(of: account, isOwn: true)
    else {
      return false
    }
    return accounts.values.contains {
      $0.machine.record?.revocations.contains(where: $0 === account ? own.mayEnd : login.mayEnd) == true
    }
  }

  /// Has the server told of tokens that came for a login of `name` that is not kept: now, where no login is there that it could
  /// end with them, else after that one's end. Waits for the server as a logout does.
  ///
  /// - Returns: false where it is to be sent by the caller, since nothing can be kept.
  func revoke(ofUnkeptLogin revocation: RevocationRecord, of name: String) async -> Bool {
    let own = accounts[name].flatMap { login(of: $0, isOwn: true) }
    let mayEndLogin =
      own?.mayEnd(with: revocation) == true || loginsUnderWay.contains { $0.mayEnd(with: revocation) }
      || living(by: [revocation.binding.clientID], but: name).contains { $0.mayEnd(with: revocation) }
    // After a lock or a stop the queue sends nothing.
    guard mayEndLogin || !isClosed else { return false }
    // The account may have been forgotten with its login.
    if isOpen { begin(name) }
    do throws(AgentFailure) { try await change(name, .owe(revocation)) } catch {
      // It ends by itself, and nobody has it.
      if mayEndLogin {
        logger.notice(
          "tokens of a login that was not kept are not revoked, since another login could end with them",
          metadata: ["account": "\(name)", "reason": "\(error.message)"])
      }
      return mayEndLogin
    }
    // A lock or a stop that came meanwhile leaves it to the next opening.
    guard !mayEndLogin, !isClosed, let account = accounts[name] else { return true }
    event(account, .revocationAsked(before: LoginAtServer(underWayBy: revocation.binding)))
    _ = await revocations(name, since: revocation.since, seconds: Self.revocationWaitSeconds)
    return true
  }

  /// A login of `name` by the client `id` has begun or ended.
  func loginChanged(_ name: String, by id: String) {
    tell(name)
    if !pendingLogins.contains(name) { wakeRevocations(by: id) }
  }

  /// A login by the client `id` is there no more: what has waited for that may be due.
  func wakeRevocations(by id: String) {
    wakeSoon(
      accounts.values.filter { account in
        account.isSparingLogins && account.machine.record?.revocations.contains { $0.binding.clientID == id } == true
      }.map(\.name))
  }

  /// Tokens that were on their way to a login by the client `id` have come: its deletion may be due.
  func wakeDeletions(of id: String) {
    wakeSoon(
      accounts.values.filter { account in
        account.machine.record?.revocations.contains { $0.clientURI != nil && $0.binding.clientID == id } == true
      }.map(\.name))
  }
}
