import AgentWire
import SystemFacts

/// Programs that work with ours: a browser's opener, git, curl.
enum ToolCheck {
  static func findings(_ context: DoctorContext) -> [Finding] { [browser(context)] + git(context) + curl(context) }

  private static func browser(_ context: DoctorContext) -> Finding {
    let environment = context.environment
    if environment.isRemoteSession {
      return .ok("browser", "you are here over ssh: the address is shown, and pasted back")
    }
    let rule = BrowserRule(environment)
    if let refused = rule.refused.first {
      return .note(
        "browser", "BROWSER has an entry that is no single program: \(refused)",
        .advice("name programs, separated by :"))
    }
    if let program = rule.programs.first(where: { find($0, context) != nil }) {
      return .ok("browser", "\(program) opens login pages")
    }
    // Without a display one way is left, which is there on Windows alone: its name would say nothing.
    guard context.environment.hasDisplay || context.environment["BROWSER"] != nil else {
      return .note(
        "browser", "there is no display here: the address is shown, and pasted back",
        .advice("that is right over ssh; or log in with --device"))
    }
    return .note(
      "browser",
      "no program to open login pages (looked for \(rule.programs.joined(separator: ", "))): the address is shown, and "
        + "pasted back",
      .advice("set BROWSER to a program that opens addresses, or log in with --device"))
  }

  private static func git(_ context: DoctorContext) -> [Finding] {
    guard find("git", context) != nil else { return [.ok("git", "not installed")] }
    let listed: String
    do throws(CommandError) {
      listed = try GitReader(context.environment, context.machine).text(GitConfiguration.query)
    } catch {
      // What keeps us from our files as well is told of them.
      if let folder = context.closedFolder, error.nextStep == .run(folder.remedy(isFolder: true)) { return [] }
      return [.wrong("git", error.sentence ?? "", error.nextStep ?? .run("oauthctl setup git"))]
    }
    let helpers = GitConfiguration.helpers(in: listed)
    let ours = helpers.filter { GitSetup.isOurs($0.command) }
    let hosts = GitHosts(context.accounts).hosts
    guard !ours.isEmpty else {
      if hosts.isEmpty, !context.accounts.isEmpty {
        return [.ok("git", "it does not ask oauthctl: the tokens of your accounts are bound to keys (DPoP)")]
      }
      return [
        context.hasAccounts
          ? .note("git", "it does not ask oauthctl", .run("oauthctl setup git"))
          : .ok(
            "git",
            "it does not ask oauthctl"
              + (NoAccount(shut: context.status?.vault) == nil ? ", which has no account yet" : ""))
      ]
    }
    for helper in ours {
      let program = helper.command.prefix { $0 != " " }.filter { $0 != "\\" }
      guard !context.machine.isExecutable(program) else { continue }
      return [
        .wrong("git", "its helper \(context.shown(program)) is not there", .run("oauthctl setup git"))
      ]
    }
    // A changed file may name other hosts than its login is for.
    if context.knowsAllAccounts, !context.hasOtherFiles,
      !context.accounts.contains(where: { $0.state == .definitionChanged })
    {
      let unserved = GitConfiguration.unserved(by: context.accounts.filter { $0.dpop != true }, in: helpers)
      if !unserved.isEmpty {
        return [
          .note(
            "git", "it asks oauthctl for \(unserved.joined(separator: ", ")), where no account has a token for git",
            GitConfiguration.removal(of: unserved, in: helpers))
        ]
      }
      let trusted = try? GitReader(context.environment, context.machine).text(GitConfiguration.authorityQuery)
      let strays = GitAuthorityCopies(context.environment).strays(in: trusted ?? "", context.accounts) { path in
        context.machine.followedStatus(path) != nil
      }
      if !strays.isEmpty {
        return [
          .wrong(
            "git", GitAuthorityCopies.words(strays: strays), GitAuthorityCopies.step(strays: strays, context.accounts))
        ]
      }
    }
    // What a changed file names is asked for once somebody has accepted it.
    let agreed = GitHosts(context.accounts.filter { $0.state != .definitionChanged }).hosts
    let missing = agreed.filter { host in !ours.contains { $0.url == GitSetup.url(host: host) } }.sorted()
    // No repository's own: doctor may be asked in any folder.
    let all = OtherHelpers(context.environment, context.machine, in: "/")
    if let off = all.switchedOff(Set(ours.map(\.url)).sorted()) { return [.wrong("git", off.reason, off.step)] }
    for origin in Set(ours.map(\.url)).sorted() {
      let others = all.names(for: origin)
      guard !others.isEmpty else { continue }
      return [
        .note(
          "git",
          "git has \(others.joined(separator: ", ")) beside oauthctl for \(origin): git before 2.46 tells it the token",
          .advice("take that helper out: git config --global --edit"))
      ]
    }
    if missing.isEmpty {
      if let finding = authority(ours, context) { return [finding] }
      let helped = Set(ours.filter { !$0.command.contains(" --account ") }.map(\.url))
      let asked = hosts.filter { helped.contains(GitSetup.url(host: $0)) }.sorted()
      if let shared = SharedHosts.undecided(context.accounts, among: asked).first {
        return [.note("git", shared.sentence, shared.advice)]
      }
    }
    return missing.isEmpty
      ? [.ok("git", "it asks oauthctl for the hosts of your accounts")]
      : [.note("git", "it does not ask oauthctl for \(missing.joined(separator: ", "))", .run("oauthctl setup git"))]
  }

  /// Servers of a private authority that git must know; so many are looked at, since each costs a run of git.
  private static let mostAuthorities = 20

  private static func authority(_ ours: [GitConfiguration.Helper], _ context: DoctorContext) -> Finding? {
    let urls = Set(ours.map(\.url))
    var looked: Set<String> = []
    for account in context.accounts where account.certificateAuthorityFile != nil && account.state != .new {
      for url in account.hosts.map({ GitSetup.url(host: $0) }) where urls.contains(url) && !looked.contains(url) {
        guard let part = GitSetup.authorityPart(of: url), PrivateAuthority.counts(for: part, of: account)
        else { continue }
        guard looked.count < mostAuthorities else { return nil }
        looked.insert(url)
        let found = context.machine.output(["git", "config", "--global", "--get-urlmatch", "http.sslCAInfo", url])
        guard let named = found?.text.trimmed else { continue }
        if named.isEmpty {
          return .wrong(
            "git", "it does not know the authority of \(url) (\(account.account)'s ca_file)", .run("oauthctl setup git")
          )
        }
        if GitAuthorityCopies(context.environment).contain(named),
          context.machine.output(["git", "config", "--global", "--get-urlmatch", "http.sslCAPath", url])?.text.trimmed
            == ""
        {
          return .note(
            "git", "it believes the system's authorities at \(url), too, beside \(account.account)'s ca_file",
            .run("oauthctl setup git"))
        }
        if let other = GitAuthority.override(context.environment), other != named {
          return .wrong("git", GitAuthority.words(override: other, of: [url]), GitAuthority.overrideStep)
        }
      }
    }
    return nil
  }

  private static func curl(_ context: DoctorContext) -> [Finding] {
    find("curl", context) != nil
      ? [] : [.note("curl", "not installed, so `oauthctl curl` has nothing to run", .run("apt install curl"))]
  }

  private static func find(_ name: String, _ context: DoctorContext) -> String? {
    ProgramLookup(
      path: context.environment["PATH"], userID: context.machine.userID, status: context.machine.status,
      realPath: context.machine.realPath, isExecutable: context.machine.isExecutable
    ).find(name)
  }
}
