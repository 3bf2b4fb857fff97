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
    func login(for account: Account) -> LoginAtServer {
      LoginAtServer(underWayBy: binding, isOwn: account.name == name)
    }
    let owing = accounts.values.filter { $0.machine.record?.revocations.contains(where: login(for: $0).mayEnd) == true }
    let others = owing.filter { $0.name != name }.prefix(Self.othersBeforeLogin)
    let asked = owing.filter { $0.name == name } + others
    for account in asked { event(account, .revocationAsked(before: login(for: account))) }
    await wait(seconds: Self.beforeLoginSeconds) { account in
      let (machine, login) = (account.machine, login(for: account))
      if machine.revocationQueue.sending.map(login.mayEnd) == true { return true }
      // The end of one is being noted, and the next one follows.
      return machine.isSaving && machine.record?.revocations.contains(where: login.mayEnd) == true
    }
  }

  /// A server may take a revocation in hand after it has given the tokens of a login of `name` by `binding`. Those that have no
  /// place yet are not sent while it is under way.
  func waitForRevocations(by binding: DefinitionBinding, of name: String) async {
    await wait(seconds: Self.underWaySeconds) { account in
      let login = LoginAtServer(underWayBy: binding, isOwn: account.name == name)
      return account.isRevocationSent && account.machine.revocationQueue.sending.map(login.mayEnd) == true
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
    let next = account.machine.record?.nextRevocations(beside: loginsToSpare(beside: account), at: time.now()) ?? []
    account.isRevocationSent = next.contains(revocation)
    return account.isRevocationSent ? nil : "it might end a login that has begun since"
  }

  /// Logins of other accounts, and those under way, that what `account` has to revoke could end.
  func loginsToSpare(beside account: Account) -> [LoginAtServer] {
    let revocations = account.machine.revocationsAtHand
    guard revocations.contains(where: { $0.clientURI == nil }) else { return [] }
    func isMeant(_ login: LoginAtServer) -> Bool { revocations.contains(where: login.mayEnd) }
    return living(where: isMeant, but: account.name) + underWay(beside: account.name).filter(isMeant)
  }

  /// The logins that are under way, as they are asked about revocations of `name`.
  private func underWay(beside name: String) -> [LoginAtServer] {
    pendingLogins.bindings().map { LoginAtServer(underWayBy: $1, isOwn: $0 == name) }
  }

  /// Whether a login of another account than `name` is under way by the client of `binding`.
  func isLoginUnderWay(by binding: DefinitionBinding, but name: String) -> Bool {
    pendingLogins.bindings().contains { $0 != name && LoginAtServer(underWayBy: $1).isBy(binding) }
  }

  /// Why the client of `deletion` is not deleted yet: it is to revoke tokens, and after that it revokes none. Nil: it is not.
  func keepsClient(of deletion: RevocationRecord, _ name: String) -> String? {
    if underWay.bringsTokens(of: deletion.binding.clientID) { return "tokens of a login by it are on their way" }
    let debtor = accounts.values.first {
      $0.name != name && $0.machine.record?.owesTokens(before: deletion) == true
    }
    return debtor.map { "what \($0.name) has still to revoke goes first" }
  }

  /// Logins that live and that `isMeant`.
  private func living(where isMeant: (LoginAtServer) -> Bool, but name: String) -> [LoginAtServer] {
    let now = time.now()
    return accounts.values.compactMap { account in
      guard account.name != name, let login = account.machine.record.flatMap({ LoginAtServer($0, at: now) }),
        isMeant(login)
      else { return nil }
      return login
    }
  }

  /// Whether something waits for the end of the login of `name` to be revoked.
  func holdsRevocations(_ name: String) -> Bool {
    guard let record = accounts[name]?.machine.record else { return false }
    let now = time.now()
    return accounts.values.contains { account in
      guard let login = LoginAtServer(record, isOwn: account.name == name, at: now) else { return false }
      return account.machine.record?.revocations.contains(where: login.mayEnd) == true
    }
  }

  /// Has the server told of tokens that came for a login of `name` that is not kept: now, where no login is there that it could
  /// end with them, else after that one's end. Waits for the server as a logout does.
  ///
  /// - Returns: false where it is to be sent by the caller, since nothing can be kept.
  func revoke(ofUnkeptLogin revocation: RevocationRecord, of name: String) async -> Bool {
    let own = accounts[name]?.machine.record.flatMap { LoginAtServer($0, isOwn: true, at: time.now()) }
    let mayEndLogin =
      own?.mayEnd(with: revocation) == true || underWay(beside: name).contains { $0.mayEnd(with: revocation) }
      || !living(where: { $0.mayEnd(with: revocation) }, but: name).isEmpty
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
    guard !mayEndLogin, let account = accounts[name] else { return true }
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
        account.machine.record?.revocations.contains { $0.binding.clientID == id } == true
      }.map(\.name))
  }
}
