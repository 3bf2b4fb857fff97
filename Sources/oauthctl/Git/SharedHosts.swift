import AgentWire

/// Hosts where several accounts fit and nothing says which is meant: git is given no token there before it names one.
struct SharedHosts: Equatable {
  var url: String
  var accounts: [String]
  /// The default for them, which has no login.
  var idleDefault: String?

  var advice: NextStep {
    let first = idleDefault.map {
      "log in to \($0), which is the default, or move  default = true  from its file into one"
    }
    return .advice(
      (first ?? "write  default = true  into the file of one")
        + ", or `paths` into one, or the account's name into the address, like "
        + GitAdvice.address(accounts, at: url))
  }

  var sentence: String {
    let shown = accounts.prefix(4).joined(separator: ", ") + (accounts.count > 4 ? ", …" : "")
    return "\(accounts.count) accounts fit \(url), and none of them is the default: \(shown)"
  }

  /// Those of `account` for which git asks us without the name of one.
  static func undecided(
    _ accounts: [AccountSummary], for account: String, in helpers: [GitConfiguration.Helper]
  ) -> [SharedHosts] {
    let asked = Set(
      helpers.filter { GitSetup.isOurs($0.command) && !$0.command.contains(" --account ") }.map(\.url))
    let hosts = accounts.first { $0.account == account }?.hosts ?? []
    return undecided(accounts, among: hosts.filter { asked.contains(GitSetup.url(host: $0)) })
      .filter { $0.accounts.contains(account) }
  }

  static func undecided(_ accounts: [AccountSummary], among hosts: [String]) -> [SharedHosts] {
    // The agent counts a login that is dead, and neither an account that has none nor a login whose file cannot be read, which
    // has no name for git.
    let able = accounts.filter { ![.new, .locked].contains($0.state) && $0.gitUsername != nil }
    return hosts.compactMap { host in
      let url = GitSetup.url(host: host)
      let fitting = able.filter { $0.hosts.contains { GitSetup.url(host: $0) == url } }
      guard !fitting.contains(where: { $0.isDefault == true }) else { return nil }
      // One that is for all other paths is no question.
      let left = fitting.filter { $0.paths == nil }.map(\.account)
      let idle = accounts.first { account in
        account.isDefault == true && account.state == .new && account.hosts.contains { GitSetup.url(host: $0) == url }
      }
      return left.count > 1 ? SharedHosts(url: url, accounts: left.sorted(), idleDefault: idle?.account) : nil
    }
  }
}

extension CommandContext {
  /// After a login to `account`, by which git may not know any more whose token it is to get.
  func warnOfSharedHosts(_ account: String) {
    guard let accounts = try? allAccounts(), accounts.count > 1,
      !SharedHosts.undecided(accounts, among: accounts.first { $0.account == account }?.hosts ?? []).isEmpty,
      let listed = try? Program.output(of: ["git", "config"] + GitConfiguration.query), listed.status == 0
    else { return }
    let helpers = GitConfiguration.helpers(in: listed.text)
    for shared in SharedHosts.undecided(accounts, for: account, in: helpers) {
      terminal.warn("git asks here, and " + shared.sentence, next: shared.advice)
    }
  }
}
