import AgentWire

/// What a person should know of git's configuration beside what is changed in it.
extension SetupCommand.Git {
  /// A host that was named although no account's token may go there.
  func warnOfUnserved(_ accounts: [AccountSummary], _ context: CommandContext) {
    for host in host {
      let origin = GitSetup.origin(host: host)
      let able = accounts.filter { account == nil || $0.account == account }
      let serving = able.filter { $0.hosts.contains(origin) }
      if let bound = serving.first, serving.allSatisfy({ $0.dpop == true }) {
        context.terminal.warn(GitHosts.words(bound.account), next: GitHosts.step(bound.account))
      }
      guard serving.isEmpty else { continue }
      context.terminal.warn(
        (account.map { "the token of \($0) may not go" } ?? "no account's token may go")
          + " to \(origin): git gets none there",
        next: account == nil
          ? .run(
            "oauthctl login NAME \(origin) --client-id ID   # or add that host, beside those of "
              + "`oauthctl account show`, to `hosts` in an account's file")
          : able.first.map { hostsLine($0, context).step(adding: origin) })
    }
  }

  private func hostsLine(_ account: AccountSummary, _ context: CommandContext) -> HostsLine {
    let file = (try? SettingsFile(account: account.account, in: context.environment))?.name(in: context.environment)
    return HostsLine(
      account: account.account, file: file ?? "its file", present: account.hosts,
      isLoggedIn: ![.new, .loginRequired].contains(account.state))
  }

  /// - Throws: `CommandError.configuration` where git's configuration has something behind our lines that takes them back.
  func checkIsAsked(_ hosts: [String], _ context: CommandContext) throws(CommandError) {
    // No repository's own, which counts there alone.
    let helpers = OtherHelpers(context.environment, .live(), in: "/")
    guard let off = helpers.switchedOff(hosts.map(GitSetup.url(host:))) else { return }
    throw .configuration(off.reason, next: off.step)
  }

  /// git before 2.46 tells the token to every helper that it has beside ours, and `store` writes it down.
  func warnOfOtherHelpers(_ hosts: [String], _ context: CommandContext) {
    let helpers = OtherHelpers(context.environment, .live())
    for host in hosts {
      let url = GitSetup.url(host: host)
      let others = helpers.names(for: url)
      guard !others.isEmpty else { continue }
      context.terminal.warn(
        "git has \(others.joined(separator: ", ")) beside oauthctl for \(url); git before 2.46 tells it the token",
        next: "take that helper out: git config --global --edit")
    }
  }

  /// What an included file or the system's says is not for us to change.
  func warnOfRest(_ context: CommandContext) {
    // From no repository, whose own configuration is not meant either.
    let query = ["git", "-C", "/", "config", "--show-origin"] + GitConfiguration.query
    guard !dryRun, let listed = try? Program.output(of: query), listed.status == 0 else { return }
    for (url, origin) in GitConfiguration.origins(ofOursIn: listed.text) {
      let place = origin.hasPrefix("file:") ? String(origin.dropFirst("file:".count)) : origin
      context.terminal.warn(
        "git still asks oauthctl for \(url.isEmpty ? "every host" : url): \(PrintableText.escaped(place)) says so",
        next: "take that helper out there")
    }
  }
}
