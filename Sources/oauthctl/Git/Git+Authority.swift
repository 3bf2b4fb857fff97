import AgentWire

extension SetupCommand.Git {
  /// As they are now: another one may have been agreed to while a question stood.
  func writeAuthorities(of accounts: [String], _ context: CommandContext) throws(CommandError) {
    for account in accounts { try GitAuthority(context: context).copy(of: account).write() }
  }

  /// Whether git goes on asking us for a server when it does not for `hosts` any more; `list` is all that it is configured with.
  static func isAsked(forServerOf host: String, besides hosts: [String], in list: String) -> Bool {
    let part = GitSetup.authorityPart(of: GitSetup.url(host: host))
    let urls = hosts.map { GitSetup.url(host: $0) }
    return GitConfiguration.helpers(in: list).contains {
      GitSetup.isOurs($0.command) && !urls.contains($0.url) && GitSetup.authorityPart(of: $0.url) == part
    }
  }

  /// The same for another port of `portless`, a server's URL without its port.
  static func isAsked(forPortOf portless: String, besides hosts: [String], in list: String) -> Bool {
    let urls = hosts.map { GitSetup.url(host: $0) }
    return GitConfiguration.helpers(in: list).contains {
      GitSetup.isOurs($0.command) && !urls.contains($0.url) && GitSetup.portlessURL(host: $0.url) == portless
    }
  }

  /// What takes away a name that an earlier version gave the authority for a part of a server's paths.
  func authorityOfPath(
    _ host: String, _ context: CommandContext, values: (String) throws(CommandError) -> [String]
  ) throws(CommandError) -> [GitSetup.Command] {
    guard let key = GitSetup.authorityPathKey(host: host), case let named = try values(key), !named.isEmpty,
      named.allSatisfy(GitAuthorityCopies(context.environment).contain)
    else { return [] }
    return GitSetup.authority(key: key, values: named, copy: nil)
  }

  /// What names the authority of the account whose server `host` is; of several, the one that is named already, or else the
  /// first whose login is bound to one.
  func authority(
    for host: String, _ accounts: [AccountSummary], _ trusting: inout [String], _ context: CommandContext,
    values: (String) throws(CommandError) -> [String]
  ) throws(CommandError) -> [GitSetup.Command] {
    guard let part = GitSetup.authorityPart(of: GitSetup.url(host: host)) else { return [] }
    let key = GitSetup.authorityKey(host: host)
    let (named, copies) = (try values(key), GitAuthorityCopies(context.environment))
    // Any other value is the user's own, that of the account's own file, too.
    guard named.allSatisfy(copies.contain) else { return [] }
    func trust(_ copy: String?) throws(CommandError) -> [GitSetup.Command] {
      guard copy != nil || !named.isEmpty else { return [] }
      let folderKey = GitSetup.authorityFolderKey(host: host)
      return GitSetup.authority(key: key, values: named, copy: copy)
        + GitSetup.authorityFolder(key: folderKey, values: try values(folderKey), hasCopy: copy != nil)
    }
    if remove { return try trust(nil) }
    var (copy, problem): (String?, CommandError?)
    // Of one whose file is for another issuer than its login it is told why git does not learn it.
    let own = accounts.filter {
      $0.certificateAuthorityFile != nil && PrivateAuthority.isNamed(for: part, by: $0)
        && (account == nil || $0.account == account)
    }
    let isNamed = { (account: AccountSummary) in named == [copies.path(of: account)] }
    for account in own.filter(isNamed) + own.filter({ !isNamed($0) }) {
      do throws(CommandError) {
        copy = try GitAuthority(context: context).copy(of: account.account).path
        trusting.append(account.account)
        break
      } catch {
        problem = problem ?? error
      }
    }
    if let copy { return try trust(copy) }
    if let problem { context.terminal.warn(problem.sentence ?? "", next: problem.nextStep) }
    // What a login in a locked vault is bound to nobody knows, a changed file does not tell it, and no account is known where
    // the agent does not answer.
    let isUnknown = accounts.isEmpty || accounts.contains { [.locked, .definitionChanged].contains($0.state) }
    return problem != nil || isUnknown ? [] : try trust(nil)
  }
}
