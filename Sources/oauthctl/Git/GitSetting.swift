import AgentWire

/// What git's configuration says to a git that speaks to a server now: all files and variables of that git.
enum GitSetting {
  /// What `git config --null --get-regexp` prints for `query`; empty where nothing is set.
  ///
  /// - Throws: `CommandError.configuration` where git does not tell.
  static func list(_ query: String, for account: String) throws(CommandError) -> String {
    let found = try? Program.output(
      of: ["git", "config", "--null", "--get-regexp", query],
      // By that variable `git config` would read another file than git does.
      passed: { name, value, _ in name == "GIT_CONFIG" ? nil : value })
    // 1: nothing is set.
    guard let found, found.status == 0 || found.status == 1 && found.text.isEmpty else {
      throw .configuration(
        "\(account): git does not say how it reaches a server",
        next: .run("git config --get-regexp '\(query)'"))
    }
    return found.text
  }
}
