package import AgentWire
import HTTPTerms
import OAuthProtocol
import OAuthTerms
import SystemFacts
import TokenVault

/// Lists of accounts. With thousands of them a list must not keep the service from everything else: an index is brought up
/// to date some accounts at a time, and only those of the page are looked at whole.
extension CredentialService {
  /// Accounts looked at before others get their turn: some milliseconds.
  private static let accountsAtOnce = 64

  package func list(limit: Int?, after: String?) async throws(AgentFailure) -> AccountPage {
    let size = limit ?? WireLimits.pageSize
    guard (1...WireLimits.pageSize).contains(size) else {
      throw AgentFailure(.badRequest, "limit is 1 to \(WireLimits.pageSize)")
    }
    do { try await openAndIndexed() } catch {
      guard [.vaultLocked, .keyMissing].contains(error.kind) else { throw error }
      return await shutList(error, limit: size, after: after)
    }
    // From here on in one step: the index and the accounts are of the same moment.
    let places = index.sorted()
    let first = after.map { after in places.firstPlace { $0.cursor > after } } ?? 0
    let page = places[first...].prefix(size)
    let isLast = page.endIndex == places.endIndex
    return AccountPage(
      accounts: page.compactMap { summary($0.name) }, next: isLast ? nil : page.last?.cursor)
  }

  /// The accounts that the files define, where the vault does not open.
  package func shutList(_ failure: AgentFailure, limit: Int?, after: String?) async -> AccountPage {
    await lockedList(failure.message).page(size: limit ?? WireLimits.pageSize, after: after)
  }

  /// Accounts that have a definition.
  package var definedCount: Int {
    guard isOpen else { return files.lockedCount }
    if index.isKept, !index.hasChanges { return index.count }
    return accounts.values.count { $0.machine.definition != nil || isLoginAlone($0) }
  }

  /// Returns when it is the caller's turn, whatever the number of accounts: an agent whose service hangs does not.
  package func ping() {}

  /// Opens the vault, and brings the index up to date.
  private func openAndIndexed() async throws(AgentFailure) {
    try await open()
    if !index.isKept { index.begin(accounts.keys) }
    while true {
      let now = time.now()
      index.noteTime(now.bootSeconds)
      for name in pendingLogins.takeChanged() { index.note(name) }
      for name in index.takeChanged(Self.accountsAtOnce) { look(at: name) }
      guard index.hasChanges else { return }
      await Task.yield()
      // It may have been locked meanwhile.
      try await open()
      if !index.isKept { index.begin(accounts.keys) }
    }
  }

  private func look(at name: String) {
    guard let account = accounts[name], account.machine.definition != nil else {
      let isLogin = accounts[name].map(isLoginAlone) ?? false
      return index.set(name, isLogin ? .configInvalid : nil, end: nil)
    }
    let now = now(name)
    let (state, _) = self.state(name, account.machine, at: now)
    let end = account.machine.record?.token(.standard)?.endBootSeconds(at: now).flatMap {
      $0 > now.bootSeconds ? $0 : nil
    }
    index.set(name, state, end: end)
  }

  // MARK: While the vault is shut

  private func lockedList(_ reason: String) async -> LockedList {
    let began = time.now().bootSeconds
    if let known = files.lockedList, known.isGood(for: reason, at: began) { return known }
    let summaries = await lockedSummaries(reason)
    let list = LockedList(summaries, reason: reason, began: began, ended: time.now().bootSeconds)
    files.lockedList = list
    return list
  }

  // MARK: One account

  /// The state that is shown, and one line why.
  private func state(
    _ name: String, _ machine: AccountStateMachine, at now: Moment
  ) -> (state: AccountSummary.State, reason: String?) {
    var (state, reason) = machine.state(at: now)
    if [.ok, .new, .configInvalid].contains(state), let problem = problems.first(about: name) {
      state = .configInvalid
      reason = problem.sentence
    }
    if [.new, .loginRequired, .expired].contains(state), pendingLogins.contains(name) { state = .loginPending }
    return (state, reason)
  }

  func summary(_ name: String) -> AccountSummary? {
    guard let account = accounts[name] else { return nil }
    guard let definition = account.machine.definition else { return loginSummary(account) }
    let now = self.now(name)
    let record = account.machine.record
    let token = record?.token(.standard)
    var (state, reason) = self.state(name, account.machine, at: now)
    if state == .new { reason = newConcern(account.machine, definition)?.message }
    // Of a dead login, one that an API has rejected is given to nobody, and no successor comes.
    let isGiven =
      account.machine.lenderFault == nil
      && (state != .loginRequired || account.machine.ready.contains { $0.key == .standard })
    let remaining = isGiven ? token?.remaining(at: now) : nil
    let refreshLife: Int? = record?.grant.flatMap { grant in
      guard let received = grant.refreshTokenReceived, let life = grant.refreshTokenLifeSeconds else { return nil }
      return Int(now.wallSeconds + life - now.seconds(since: received))
    }
    var summary = AccountSummary(
      account: name, accountID: record == nil ? nil : account.id.description, state: state, reason: reason,
      issuer: definition.issuer, host: definition.host,
      hosts: definition.origins, clientID: definition.clientID, grant: definition.grant.rawValue,
      scope: token?.scope ?? record?.grant?.scope ?? definition.scope,
      expiresAt: remaining.map { Int(now.wallSeconds + $0) },
      expiresInSeconds: remaining.map { Int($0) }, loginExpiresAt: refreshLife, renewable: account.machine.isRenewable,
      retryAfterMilliseconds: state == .retrying ? account.machine.retryAfterMilliseconds(at: now) : nil,
      gitUsername: definition.gitUsername, hint: hint(state, account.machine, definition),
      certificateAuthorityFile: definition.certificateAuthorityFile,
      isDefault: definition.isDefault ? true : nil, paths: definition.paths.isEmpty ? nil : definition.paths,
      who: record?.grant?.identity?.who)
    if state == .definitionChanged, account.machine.lenderFault != nil { summary.lenderChanged = true }
    if state == .new, record?.formerBinding != nil { summary.loggedOut = true }
    summary.dpop = record?.grant?.binding.isBound ?? definition.usesDPoP ? true : nil
    if let bound = record?.grant?.binding.issuerHost, bound != definition.host { summary.boundHost = bound }
    summary.missingSecret = state == .clientRejected ? account.machine.missingSecret : nil
    return summary
  }

  /// Of a login whose file is gone, or could not be read since the agent started: from its sealed record.
  private func loginSummary(_ account: Account) -> AccountSummary? {
    guard isLoginAlone(account), let grant = account.machine.record?.grant else { return nil }
    let problem = problems.hindrance(of: account.name)
    let binding = grant.binding
    var summary = AccountSummary(
      account: account.name, accountID: account.id.description, state: .configInvalid,
      reason: problem?.sentence ?? fileGone(account.name), issuer: binding.issuer, host: binding.issuerHost,
      hosts: binding.hosts, clientID: binding.clientID, grant: grant.kind.rawValue, scope: grant.scope, expiresAt: nil,
      expiresInSeconds: nil, loginExpiresAt: nil, renewable: account.machine.isRenewable,
      hint: problem?.nextStep ?? fileGoneHint(account.name), fileGone: problem == nil ? true : nil,
      who: grant.identity?.who)
    summary.dpop = binding.isBound ? true : nil
    return summary
  }

  func fileGone(_ name: String) -> String {
    guard let usual = usualFile(name), let folders = files.folders else {
      let gone = files.folders.flatMap { folders in
        folders.gone.map {
          folders.isGoneLink
            ? "\($0) is a link that leads nowhere, where all account files were"
            : "\($0) is gone with all account files"
        }
      }
      return "\(gone ?? "its file is gone"), and the login is still kept"
    }
    return "its file is \(usual), and this agent reads \(folders.read)"
  }

  func fileGoneHint(_ name: String) -> NextStep {
    if usualFile(name) != nil { return .restart(without: "XDG_CONFIG_HOME") }
    // The same for all of them: it is one fault.
    if let folders = files.folders, let gone = folders.gone {
      if folders.isGoneLink { return .run("ls -l \(ShellWord.quoted(gone))   # bring back what this link leads to") }
      // The agent has the variable.
      if folders.usual != nil {
        return .advice("bring \(gone) back; or: \(NextStep.restart(without: "XDG_CONFIG_HOME").text)")
      }
      return "bring \(gone) back; if it was moved with XDG_CONFIG_HOME, export that and: oauthctl agent restart"
    }
    let place = files.folders.map { "it back as \($0.read)/\(name).toml" } ?? "\(name).toml back into accounts.d"
    return "put \(place); or, to end the login: oauthctl logout \(name)"
  }

  /// The file of an account that this agent does not read, since it was started with another folder than the usual one.
  private func usualFile(_ name: String) -> String? {
    guard let folders = files.folders, let usual = folders.usual, folders.inUsual.contains(name) else { return nil }
    return "\(usual)/\(name).toml"
  }

  /// `failure`, where it asks for a login that the account's broken file would refuse: the file comes first.
  func blamingFile(_ failure: AgentFailure, of name: String) -> AgentFailure {
    guard failure.kind == .loginRequired, let problem = problems.first(about: name) else { return failure }
    var failure = failure
    failure.message = "\(name): \(problem.sentence); \(failure.message(without: name))"
    failure.hint = loginStep(name)
    return failure
  }

  /// How `name` gets a login: a file with a problem has to be put right before.
  private func loginStep(_ name: String) -> NextStep {
    let login = "oauthctl login \(name)"
    return problems.first(about: name).map { .advice("\($0.nextStep.text); then: \(login)") } ?? .run(login)
  }

  /// What another account has to do before a new one can log in; nil: nothing, or its own key comes first.
  private func newConcern(_ machine: AccountStateMachine, _ definition: AccountDefinition) -> AccountConcern? {
    lacksKey(machine, definition) ? nil : lenderConcerns(definition).first
  }

  private func lacksKey(_ machine: AccountStateMachine, _ definition: AccountDefinition) -> Bool {
    definition.needsPrivateKey && machine.record?.keeps(.clientSecret) != true
  }

  /// What a person can do about the state.
  private func hint(
    _ state: AccountSummary.State, _ machine: AccountStateMachine, _ definition: AccountDefinition
  ) -> NextStep? {
    // Of another account's login: what helps is said with it.
    if let fault = machine.lenderFault { return fault.hint }
    return switch state {
    case .new where lacksKey(machine, definition):
      ClientObstacle.noKey.hint(definition.name, definition.clientAuthentication)
    case .new: newConcern(machine, definition)?.nextStep ?? .run("oauthctl login \(definition.name)")
    case .loginRequired: machine.lenderHint ?? loginStep(definition.name)
    case .clientRejected:
      machine.clientFault?.hint
        ?? ClientHint.ofLogin(definition.name, method: machine.record?.grant?.binding.clientAuthentication)
    case .definitionChanged: machine.definitionChangedHint
    case .configInvalid:
      problems.first(about: definition.name)?.nextStep ?? machine.lenderHint ?? "mend \(definition.file)"
    case .retrying:
      machine.authorityHint ?? machine.certificateHint ?? machine.storageHint ?? machine.doubtHint ?? machine.lenderHint
    case .ok, .refreshing, .expired: lenderHint(definition) ?? machine.narrowedHint
    case .loginPending, .locked: nil
    }
  }
}

extension AccountStateMachine {
  /// What its client would prove itself with, and of which nothing is kept, as ``AccountCheckAnswer/missingSecrets`` names it.
  var missingSecret: String? {
    guard let record, record.clientSecret == nil, let binding = record.grant?.binding, binding.sendsClientSecret else {
      return nil
    }
    switch ClientObstacle(binding.clientAuthentication, nil) {
    case .noKey: return AccountCheckAnswer.privateKey
    case .noSecret: return SecretKind.clientSecret.rawValue
    case .unknownMethod, .noCertificate, .keyForSecret, .secretForKey, .noTLS, nil: return nil
    }
  }

  /// The server gives less than it gave at the login; some do so for good once a token with fewer scopes was asked for.
  var narrowedHint: NextStep? {
    guard let grant = record?.grant, let token = record?.token(.standard), !token.scope.isEmpty else { return nil }
    let missing = grant.scope.filter { !token.scope.contains($0) && $0 != AccountDefinition.offlineAccess }
    guard !missing.isEmpty else { return nil }
    let shown = Escaped.forTerminal(missing.joined(separator: " "), limit: 120)
    return "its server gives no \(shown) any more; for that: oauthctl login \(name)"
  }
}

extension AccountDefinition {
  /// Where its issuer is, and the endpoints that it names.
  var serverHosts: [String] {
    [issuer, tokenEndpoint, authorizationEndpoint, deviceAuthorizationEndpoint].compactMap { url in
      url.flatMap { try? WebURL($0) }?.origin.host
    }
  }

  /// The issuer's host, for people; with the port where it is not the scheme's own.
  var host: String { Self.host(ofIssuer: issuer) }

  static func host(ofIssuer issuer: String) -> String {
    guard let origin = try? WebURL(issuer).origin else { return issuer }
    return String(origin.description.dropFirst(origin.scheme.rawValue.count + "://".count))
  }
}
