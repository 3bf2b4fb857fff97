package import AgentWire
import HTTPTerms
import OAuthProtocol

/// Which account a request means: the one that is named; else, among those whose hosts hold the URL, the one that holds the
/// rejected token, that answers to the user name, that is logged in, whose `paths` hold the URL's path, or that is the
/// default. Each of these only chooses where more than one fits.
package enum AccountSelection {
  /// An account, as far as the choice goes.
  package struct Candidate: Sendable, Equatable {
    package var name: String
    package var hosts: HostPolicy
    /// Where it is defined.
    package var file: String
    package var isLoggedIn: Bool
    /// Whether nothing is known against its login: such are proposed first.
    package var isWorking: Bool
    package var paths: [String]
    package var isDefault: Bool
    /// The person's name at the server, as the file has it.
    package var username: String?
    package var gitUsername: String
    /// Whether it holds the token that the request calls rejected.
    package var holdsRejected: Bool

    package init(
      _ definition: AccountDefinition, hosts: HostPolicy, isLoggedIn: Bool, isWorking: Bool = true,
      holdsRejected: Bool = false
    ) {
      name = definition.name
      self.hosts = hosts
      file = definition.file
      self.isLoggedIn = isLoggedIn
      self.isWorking = isWorking
      paths = definition.paths
      isDefault = definition.isDefault
      username = definition.username
      gitUsername = definition.gitUsername
      self.holdsRejected = holdsRejected
    }

    /// Whether a request that names no account means this one, where there may be others that nobody can read.
    package func fit(_ wish: Wish) -> Fit {
      if holdsRejected { return .meant }
      if let user = wish.username, !user.isEmpty, !anybody.contains(user) {
        return [name, username, gitUsername].contains(user) ? .meant : .other
      }
      guard isLoggedIn else { return .other }
      guard !paths.isEmpty, let path = wish.url.flatMap({ try? WebURL($0) })?.path else { return .perhaps }
      return paths.contains { holds(prefix: $0, path: path) } ? .meant : .other
    }

    package enum Fit { case meant, perhaps, other }
  }

  package struct Wish: Sendable {
    package var account: String?
    package var url: String?
    /// As in a URL's user part, or git's `credential.username`.
    package var username: String?

    package init(account: String? = nil, url: String? = nil, username: String? = nil) {
      self.account = account
      self.url = url
      self.username = username
    }
  }

  /// User names that stand for whoever the token belongs to (GitLab, GitHub, Bitbucket): they name nobody.
  static let anybody = ["oauth2", "x-access-token", "x-oauth-basic", "x-token-auth"]

  /// Most names of accounts that a failure lists: they are to fit on a line.
  static let shown = 8

  /// Picks among `accounts`.
  ///
  /// Throws `account_unknown`, `account_ambiguous`, `login_required` (several fit, and none is logged in),
  /// `not_permitted` (the host is not one of the account's, or `url` is plain http to another machine) or `bad_request` (`url`
  /// is none).
  package static func select(
    _ wish: Wish, among accounts: [Candidate]
  ) throws(AgentFailure) -> (name: String, matchedHost: String?) {
    var url: WebURL?
    if let text = wish.url {
      do { url = try .read(text) } catch {
        let isReadable = if case .url(_, .plainHTTP) = error { true } else { false }
        throw AgentFailure(
          isReadable ? .notPermitted : .badRequest, "url: \(error)", hint: "give an https URL (http on loopback only)")
      }
    }
    let origin = url?.origin.description
    if let account = wish.account {
      guard let found = accounts.first(where: { $0.name == account }) else {
        throw unknown(account, accounts.map(\.name))
      }
      if let origin, !found.hosts.served.contains(origin) { throw notServed(origin, found) }
      return (found.name, origin)
    }
    let fitting = origin.map { origin in accounts.filter { $0.hosts.served.contains(origin) } } ?? accounts
    guard !fitting.isEmpty else {
      if let origin, let waiting = accounts.first(where: { $0.hosts.unaccepted.contains(origin) }) {
        throw notServed(origin, waiting)
      }
      throw AgentFailure(
        .accountUnknown, origin.map { "no account for \($0)" } ?? "no account is set up",
        hint: noneHint(origin, accounts.map(\.name).sorted()))
    }
    return (try choose(fitting, wish.username, path: url?.path ?? "", origin), origin)
  }

  /// An API's host is often no server to log in at, and is missing among the `hosts` of an account that is there.
  static func noneHint(_ origin: String?, _ names: [String]) -> NextStep {
    guard let origin, !names.isEmpty else {
      return .firstLogin(origin ?? "ISSUER")
    }
    return .run(
      "oauthctl login \(origin)   # or add that host, beside those of `oauthctl account show`, to "
        + "`hosts` in the file of one of: \(list(names))")
  }

  /// The same host and port by the other of http and https.
  static func otherScheme(_ origin: String) -> String? {
    for (one, other) in [("https://", "http://"), ("http://", "https://")] where origin.hasPrefix(one) {
      return other + origin.dropFirst(one.count)
    }
    return nil
  }

  /// `origin` is what `account` is for, and not what was asked for.
  static func schemeHint(_ origin: String, _ account: String) -> NextStep {
    .advice("begin the URL with \(origin), which \(account) is for (one without a scheme is read as https)")
  }

  private static func choose(
    _ fitting: [Candidate], _ username: String?, path: String, _ origin: String?
  ) throws(AgentFailure) -> String {
    if let holder = fitting.first(where: \.holdsRejected) { return holder.name }
    var left = fitting
    if let username, !username.isEmpty { left = try answering(to: username, fitting, origin) }
    let loggedIn = left.filter(\.isLoggedIn)
    // One whose login was never finished is in nobody's way.
    left = preferred(loggedIn.isEmpty ? left : loggedIn, path: path)
    guard left.count != 1 else { return left[0].name }
    let place = origin.map { " \($0)" } ?? ""
    let (working, others) = (left.filter(\.isWorking), left.filter { !$0.isWorking })
    let names = working.map(\.name).sorted() + others.map(\.name).sorted()
    guard !loggedIn.isEmpty else {
      throw AgentFailure(
        .loginRequired, "login needed: none of the accounts that fit\(place) is logged in: \(list(names))",
        hint: .run(NamedChoice.text(names) { "oauthctl login \($0)" }),
        accounts: Array(names.prefix(shown)))
    }
    let areDefaults = left.allSatisfy(\.isDefault)
    let idle = fitting.first { $0.isDefault && !$0.isLoggedIn }?.name
    throw AgentFailure(
      .accountAmbiguous,
      "\(left.count) accounts fit\(place)\(areDefaults ? ", each as the default": ""): \(list(names))",
      hint: areDefaults
        ? "take  default = true  out of the files of all but one"
        : idle.map(idleDefaultStep) ?? "write  default = true  into the file of one",
      accounts: Array(names.prefix(shown)))
  }

  /// Two defaults of one host would be told as a problem of both.
  package static func idleDefaultStep(_ name: String) -> NextStep {
    .advice(
      "\(name) is the default, and is not logged in: oauthctl login \(name); or move  default = true  from its file into "
        + "that of one of these")
  }

  /// Those that a user name means: their own name, the person's name at the server, or their name for git.
  private static func answering(
    to username: String, _ fitting: [Candidate], _ origin: String?
  ) throws(AgentFailure) -> [Candidate] {
    let isAnybody = anybody.contains(username)
    let meant = fitting.filter { one in
      one.name == username || one.username == username || !isAnybody && one.gitUsername == username
    }
    if !meant.isEmpty { return meant }
    if isAnybody { return fitting }
    // Where there is but one account, and it does not say whose it is, the name in a URL may well be that person's.
    let loggedIn = fitting.filter(\.isLoggedIn)
    let only = loggedIn.isEmpty ? fitting : loggedIn
    if only.count == 1, only[0].username == nil, anybody.contains(only[0].gitUsername) { return only }
    let names = fitting.map(\.name).sorted()
    let shownName = Escaped.forTerminal(username, limit: 80)
    throw AgentFailure(
      .accountUnknown,
      "no account\(origin.map { " for \($0)" } ?? "") answers to the user name \(shownName): \(list(names))",
      hint: "use an account's name, or write  username = \"\(shownName)\"  into the file of one",
      accounts: Array(names.prefix(shown)))
  }

  /// Those among `candidates`, all of them logged in or none, that `path` and then the default choose.
  package static func preferred(_ candidates: [Candidate], path: String) -> [Candidate] {
    var left = candidates
    if left.count > 1 { left = narrowed(left, path: path) }
    if left.count > 1, case let defaults = left.filter(\.isDefault), !defaults.isEmpty { left = defaults }
    return left
  }

  /// Those with the longest of their `paths` that holds `path`; where none does, those that name no paths, if any.
  private static func narrowed(_ candidates: [Candidate], path: String) -> [Candidate] {
    let lengths = candidates.map { candidate in
      candidate.paths.filter { holds(prefix: $0, path: path) }.map(\.utf8.count).max() ?? 0
    }
    guard let longest = lengths.max(), longest > 0 else {
      let free = candidates.filter(\.paths.isEmpty)
      return free.isEmpty ? candidates : free
    }
    return zip(candidates, lengths).filter { $0.1 == longest }.map(\.0)
  }

  /// Whole segments: `team` holds `/team/app.git` and not `/teams`; `team/app` holds `/team/app.git` too.
  static func holds(prefix: String, path: String) -> Bool {
    let path = path.utf8.drop { $0 == UInt8(ascii: "/") }
    guard path.starts(with: prefix.utf8) else { return false }
    let rest = path.dropFirst(prefix.utf8.count)
    if rest.isEmpty || rest.first == UInt8(ascii: "/") { return true }
    let tail = rest.starts(with: ".git".utf8) ? rest.dropFirst(4) : rest
    return tail.count < rest.count && (tail.isEmpty || tail.first == UInt8(ascii: "/"))
  }

  private static func list(_ names: [String]) -> String {
    names.prefix(shown).joined(separator: ", ") + (names.count > shown ? ", …" : "")
  }

  private static func notServed(_ origin: String, _ candidate: Candidate) -> AgentFailure {
    let account = candidate.name
    guard !candidate.hosts.unaccepted.contains(origin) else {
      return AgentFailure(
        .notPermitted, "\(account): its tokens may not go to \(origin) yet: the login is not bound to that host",
        hint: .run("oauthctl account accept \(account)"))
    }
    if let other = otherScheme(origin), candidate.hosts.served.contains(other) {
      return AgentFailure(
        .notPermitted, "\(account): its tokens may not go to \(origin)", hint: schemeHint(other, account))
    }
    let line = HostsLine(
      account: account, file: candidate.file, present: candidate.hosts.named, isLoggedIn: candidate.isLoggedIn)
    return AgentFailure(
      .notPermitted, "\(account): its tokens may not go to \(origin)", hint: line.step(adding: origin))
  }

  static func unknown(_ name: String, _ known: [String]) -> AgentFailure {
    let meant = NameSuggestion.nearest(to: name, among: known).map { "did you mean \($0)? " } ?? ""
    let shown = known.sorted().prefix(8).joined(separator: ", ") + (known.count > 8 ? ", …" : "")
    return AgentFailure(
      .accountUnknown, "\(Escaped.forTerminal(name, limit: 80)): no such account",
      hint: known.isEmpty ? .firstLogin() : "\(meant)accounts: \(shown)")
  }
}
