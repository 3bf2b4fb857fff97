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
    await waitForRevocations(login, seconds: Self.beforeLoginSeconds)
  }

  /// A server may take a revocation in hand after it has given the tokens of a login by `binding`.
  func waitForRevocations(by binding: DefinitionBinding) async {
    await waitForRevocations(LoginAtServer(underWayBy: binding), seconds: Self.underWaySeconds)
  }

  private func waitForRevocations(_ login: LoginAtServer, seconds: Double) async {
    let end = time.now().bootSeconds + seconds
    func isAtIt(_ account: Account) -> Bool {
      let machine = account.machine
      if machine.revocationQueue.sending.map(login.mayEnd) == true { return true }
      // The end of one is being noted, and the next one follows.
      return machine.isSaving && machine.record?.revocations.contains(where: login.mayEnd) == true
    }
    while let account = accounts.values.first(where: isAtIt) {
      let left = end - time.now().bootSeconds
      guard left > 0 else { return }
      await wait(for: .revocation(account.name), seconds: left)
    }
  }

  /// Logins of other accounts, and those under way, that what `account` has to revoke could end.
  func loginsToSpare(beside account: Account) -> [LoginAtServer] {
    let revocations = account.machine.revocationsAtHand
    guard revocations.contains(where: { $0.clientURI == nil }) else { return [] }
    func isMeant(_ login: LoginAtServer) -> Bool { revocations.contains(where: login.mayEnd) }
    return living(where: isMeant, but: account.name)
      + pendingLogins.bindings().map(LoginAtServer.init(underWayBy:)).filter(isMeant)
  }

  /// Logins that live and that `isMeant`.
  private func living(where isMeant: (LoginAtServer) -> Bool, but name: String? = nil) -> [LoginAtServer] {
    accounts.values.compactMap { account in
      guard account.name != name, let login = account.machine.record?.grant.flatMap({ LoginAtServer($0) }),
        isMeant(login)
      else { return nil }
      return login
    }
  }

  /// Whether something waits for the end of the login of `name` to be revoked.
  func holdsRevocations(_ name: String) -> Bool {
    guard let login = accounts[name]?.machine.record?.grant.flatMap({ LoginAtServer($0) }) else { return false }
    return accounts.values.contains { $0.machine.record?.revocations.contains(where: login.mayEnd) == true }
  }

  /// Has the server told of tokens that came for a login of `name` that is not kept: now, where no login is there that it could
  /// end with them, else after that one's end. Waits for the server as a logout does.
  ///
  /// - Returns: false where it is to be sent by the caller, since nothing can be kept.
  func revoke(ofUnkeptLogin revocation: RevocationRecord, of name: String) async -> Bool {
    let underWay = pendingLogins.bindings().map(LoginAtServer.init(underWayBy:))
    let mayEndLogin =
      underWay.contains { $0.mayEnd(with: revocation) } || !living(where: { $0.mayEnd(with: revocation) }).isEmpty
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
