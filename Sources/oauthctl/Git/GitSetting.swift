import AgentWire

/// What git's configuration says to a git that speaks to a server now: all files and variables of that git.
enum GitSetting {
  /// What `git config --null --get-regexp` prints for `query`; empty where nothing is set.
  ///
  /// - Throws: `CommandError.configuration` where git does not tell.
  static func list(_ query: String, for account: String) throws(CommandError) -> String {
    guard let found = text(["--null", "--get-regexp", query]) else {
      throw .configuration(
        "\(account): git does not say how it reaches a server",
        next: .run("git config --get-regexp '\(query)'"))
    }
    return found
  }

  /// Whom git believes at `address`, by its own rules; nil where it does not tell, since it finds no settings for an address
  /// that it cannot read.
  static func trust(at address: String) -> GitTrust? {
    // git looks it up with a slash behind.
    text(["--null", "--get-urlmatch", "http", address.hasSuffix("/") ? address : address + "/"]).map(GitTrust.init(in:))
  }

  /// What counts of several; nil where nothing is set.
  static func value(of key: String) -> String? {
    text(["--null", "--get", key]).flatMap { $0.isEmpty ? nil : String($0.dropLast()) }
  }

  private static func text(_ query: [String]) -> String? {
    let found = try? Program.output(of: ["git", "config"] + query)
    // 1: nothing is set.
    guard let found, found.status == 0 || found.status == 1 && found.text.isEmpty else { return nil }
    return found.text
  }
}
