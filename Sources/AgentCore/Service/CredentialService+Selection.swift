import AgentWire
import HTTPTerms

extension CredentialService {
  /// The account that a request gets.
  struct Choice: Equatable {
    let name: String
    let matchedHost: String?
    /// Another account may be the one that is meant, and nobody can tell: one line.
    var doubt: String?
    /// It holds the token that the request calls rejected.
    var holdsRejected = false
  }

  /// Which account a request means. One that nobody can read stops no healthy one: that is served, with a word of doubt.
  /// `former` is what it meant before a wait, in which the rejected token may have gone.
  func select(_ request: TokenGet, after former: Choice? = nil) throws(AgentFailure) -> Choice {
    let wish = AccountSelection.Wish(account: request.account, url: request.url, username: request.username)
    // What is no fingerprint is refused later, with words of its own.
    let rejected = request.rejected.flatMap { try? Fingerprint(rejected: $0) }
    let choice = try select(wish, rejected: rejected, holder: former?.holdsRejected == true ? former?.name : nil)
    if let further = request.furtherURLs, let chosen = accounts[choice.name].flatMap({ candidate($0) }) {
      for url in further {
        _ = try AccountSelection.select(AccountSelection.Wish(account: choice.name, url: url), among: [chosen])
      }
    }
    return choice
  }

  func select(account: String, url: String?) throws(AgentFailure) -> Choice {
    try select(AccountSelection.Wish(account: account, url: url), rejected: nil)
  }

  func select(
    _ wish: AccountSelection.Wish, rejected: Fingerprint?, holder: String? = nil
  ) throws(AgentFailure) -> Choice {
    // A lock may have come since the request was begun.
    guard isOpen else { throw .vaultLocked }
    let origin = wish.url.flatMap { try? WebURL($0) }?.origin.description
    var known = considered(wish.account, origin).compactMap { candidate($0, rejected) }
    if let index = known.firstIndex(where: { $0.name == holder }) { known[index].holdsRejected = true }
    // A URL that cannot be read means nobody.
    let isAnybodys = wish.account == nil && (wish.url == nil || origin != nil)
    let unread = isAnybodys ? unreadLogins().login(serving: origin, named: wish.username) : nil
    let choice: Choice
    do {
      let (name, host) = try choose(wish, among: known)
      choice = Choice(
        name: name, matchedHost: host,
        holdsRejected: rejected != nil && known.contains { $0.name == name && $0.holdsRejected })
    } catch {
      let missing = error.kind == .accountUnknown ? wish.account : nil
      if let missing, problems.hindrance(of: missing) == nil, let account = accounts[missing], isLoginAlone(account) {
        throw AgentFailure(
          .accountUnknown, "\(missing): \(fileGone(missing))", hint: fileGoneHint(missing))
      }
      if error.kind == .accountAmbiguous {
        // The one that nobody can read may be the one that chooses, as the default does.
        guard let unread else { throw error }
        var failure = unreadable(unread)
        failure.message += "; without it \(error.message)"
        throw failure
      }
      if let name = unread ?? missing, problems.hindrance(of: name) != nil { throw unreadable(name) }
      if error.kind == .loginRequired, isAnybodys, let gone = goneLogin(serving: origin, named: wish.username) {
        throw gone
      }
      guard error.kind == .accountUnknown else { throw error }
      if isAnybodys, error.accounts == nil, let origin, let changed = changedLogin(serving: origin) {
        throw changed.machine.definitionChanged
      }
      if isAnybodys, error.accounts == nil, let gone = goneLogin(serving: origin, named: wish.username) { throw gone }
      guard let folder = problems.folder else {
        var failure = error
        if wish.account == nil, let origin, known.isEmpty {
          // Only accounts of this host were looked at, and there is none. Of very many, no names would be read.
          let names =
            accounts.count > Self.namesToRead ? [] : accounts.values.filter { $0.machine.definition != nil }.map(\.name)
          failure.hint = AccountSelection.noneHint(origin, names.sorted())
          if let other = AccountSelection.otherScheme(origin), let name = ready.accounts(naming: other).min() {
            failure.hint = AccountSelection.schemeHint(other, name)
          }
        }
        if isAnybodys, error.accounts == nil, let file = unreadLogins().unknownFile {
          failure = AgentFailure(
            .accountUnknown, "\(error.message), and this file cannot be used: \(file.sentence)", hint: failure.hint)
        }
        throw failure
      }
      // Which host an account without a login serves nobody knows.
      throw AgentFailure(.accountUnknown, "\(error.message): \(folder.sentence)", hint: folder.nextStep)
    }
    guard isAnybodys, let chosen = known.first(where: { $0.name == choice.name }) else { return choice }
    guard let unread else {
      // One that has a token to give is served, unless the request says that it is not meant.
      let fit = chosen.fit(wish)
      guard fit == .other || fit != .meant && (!chosen.isLoggedIn || !chosen.isWorking),
        let gone = goneLogin(serving: origin, named: wish.username)
      else { return choice }
      throw gone
    }
    switch chosen.fit(wish) {
    case .meant: return choice
    case .other: throw unreadable(unread)
    // Its own login does not work: what would help it is no answer for whoever meant the other.
    case .perhaps where !chosen.isWorking: throw unreadable(unread)
    case .perhaps:
      let failure = unreadable(unread)
      var doubtful = choice
      doubtful.doubt =
        failure.message + (failure.hint.map { "; \($0.text)" } ?? "") + "; meanwhile \(choice.name) is taken"
      return doubtful
    }
  }

  /// Those that a request may mean which names this account or this origin. With thousands of accounts, listing them all
  /// takes longer than a refresh.
  private func considered(_ name: String?, _ origin: String?) -> [Account] {
    if let name { return accounts[name].map { $0.machine.definition == nil ? [] : [$0] } ?? [] }
    guard let origin else { return Array(accounts.values) }
    return ready.accounts(naming: origin).compactMap { accounts[$0] }
  }

  private func choose(
    _ wish: AccountSelection.Wish, among known: [AccountSelection.Candidate]
  ) throws(AgentFailure) -> (name: String, matchedHost: String?) {
    do throws(AgentFailure) { return try AccountSelection.select(wish, among: known) } catch {
      guard let name = wish.account, known.isEmpty, error.kind == .accountUnknown else { throw error }
      // Of very many, no names would be read, and to compare them all takes longer than a token.
      guard accounts.count <= Self.namesToRead else {
        throw AgentFailure(.accountUnknown, error.message, hint: .run("oauthctl account list"))
      }
      throw AccountSelection.unknown(name, accounts.values.filter { $0.machine.definition != nil }.map(\.name))
    }
  }

  private static let namesToRead = 64

  /// `account` as one that a request may mean; nil without a definition.
  func candidate(_ account: Account, _ rejected: Fingerprint? = nil) -> AccountSelection.Candidate? {
    guard let definition = account.machine.definition, let hosts = account.hostPolicy else { return nil }
    let record = account.machine.record
    return AccountSelection.Candidate(
      definition, hosts: hosts, isLoggedIn: record?.hasLogin == true,
      isWorking: record?.grant?.verdict == nil && account.machine.lenderFault == nil,
      holdsRejected: rejected.map { rejected in
        record?.tokens.contains { $0.fingerprint == rejected } ?? false
      } ?? false)
  }

  /// What begins a login, or takes a secret, goes by the file that is there. What was read of it before it could not be read
  /// any more is for logins that are bound to it: of another one nobody was shown it. Throws `config_invalid`.
  func checkIsRead(_ name: String) async throws(AgentFailure) {
    guard problems.hindrance(of: name) != nil else { return }
    // It may have been put right since.
    _ = await readFiles()
    guard problems.hindrance(of: name) == nil else { throw unreadable(name) }
  }

  /// By the files as they are now. Throws `config_invalid` where there is no file, too.
  func checkHasFile(_ name: String) async throws(AgentFailure) {
    _ = await readFiles()
    guard problems.hindrance(of: name) == nil else { throw unreadable(name) }
    guard accounts[name]?.machine.definition == nil else { return }
    throw AgentFailure(
      .configInvalid, "\(name): its file is gone, and the login before stays",
      hint: "put the file back, and log in again")
  }

  private func unreadable(_ name: String) -> AgentFailure {
    guard let problem = problems.hindrance(of: name) else {
      return AgentFailure(.configInvalid, "\(name): its file cannot be used")
    }
    return AgentFailure(.configInvalid, "\(name): \(problem.sentence)", hint: problem.nextStep)
  }

  /// The logins whose files could not be read since the agent started: looked for once after each change of files, and
  /// of a login without one. From then on the event loop knows for which hosts to leave questions to us.
  private func unreadLogins() -> UnreadLogins {
    if let known = files.unread { return known }
    var found = UnreadLogins()
    // Mostly no file has a problem: then nothing is looked through.
    if !problems.all.isEmpty {
      for account in accounts.values where isLoginAlone(account) && problems.hindrance(of: account.name) != nil {
        found.add(account.name, serving: account.machine.record?.grant?.binding.hosts ?? [])
      }
      found.unknownFile = problems.all.first { problem in
        guard let name = problem.accountName else { return false }
        let machine = accounts[name]?.machine
        return machine?.definition == nil && machine?.record?.grant == nil
      }
    }
    files.unread = found
    // A login whose file is gone may be meant by a user name.
    ready.answerURLs(unread: Set(found.byOrigin.keys).union(loginsAlone().byOrigin.keys))
    return found
  }

  /// The logins whose files are gone: looked for once after each change of files or of such a login.
  private func loginsAlone() -> UnreadLogins {
    if let known = files.gone { return known }
    var found = UnreadLogins()
    for account in accounts.values where isLoginAlone(account) && problems.hindrance(of: account.name) == nil {
      found.add(account.name, serving: account.machine.record?.grant?.binding.hosts ?? [])
    }
    files.gone = found
    return found
  }

  /// What is said of one of them that serves `origin` (nil: any): that of `name`, else the first.
  private func goneLogin(serving origin: String?, named name: String?) -> AgentFailure? {
    loginsAlone().login(serving: origin, named: name).map {
      AgentFailure(.configInvalid, "\($0): \(fileGone($0))", hint: fileGoneHint($0))
    }
  }

  /// The login for `origin` whose changed file names other hosts. One that names fewer, and says nothing else, is what a person
  /// does who wants no token to go there.
  private func changedLogin(serving origin: String) -> Account? {
    accounts.values.filter { account in
      let machine = account.machine
      guard let hosts = account.hostPolicy, let binding = machine.record?.grant?.binding,
        binding.hosts.contains(origin), machine.isDefinitionChanged
      else { return false }
      return machine.differences.contains { $0.key != "hosts" }
        || !hosts.unaccepted.isEmpty
    }.min { $0.name < $1.name }
  }

  /// They may be others now: until somebody asks, the event loop leaves all questions by URL alone to us.
  func forgetUnreadLogins() {
    (files.unread, files.gone) = (nil, nil)
    ready.answerURLs(unread: nil)
  }

  /// Whether there is a login and nothing else: its file is gone, or it, or its folder, has had a problem since the agent
  /// started.
  func isLoginAlone(_ account: Account) -> Bool {
    account.machine.definition == nil && account.machine.record?.grant != nil
  }

  /// Where a token was rejected: origin and path. The query is left out, which may hold anything.
  static func place(_ url: String?) -> String? {
    guard let url, let parsed = try? WebURL(url) else { return nil }
    return parsed.origin.description + (parsed.path.isEmpty ? "/" : parsed.path)
  }
}
