import AgentWire
import SystemFacts

/// What git's configuration says to a git that speaks to a server now: all files and variables of that git.
enum GitSetting {
  /// The settings `http.*` that count at `url`, by their names in small letters: of each the one of the longest URL that fits.
  ///
  /// - Throws: `CommandError.configuration` where git does not tell.
  static func http(at url: String) throws(CommandError) -> [String: String] {
    let query = ["--get-urlmatch", "http", url]
    guard let found = output(["--null", "--type=path"] + query) else {
      throw .configuration(
        "git does not say whom it trusts at \(url)",
        next: .run("git config " + query.map { ShellWord.quoted($0) }.joined(separator: " ")))
    }
    let entries = found.split(separator: "\0").map {
      $0.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    }
    return Dictionary(entries.map { ($0[0], $0.count == 2 ? $0[1] : "true") }) { $1 }
  }

  /// What `git config` prints; empty where nothing is set, nil where it fails.
  static func output(_ arguments: [String]) -> String? {
    let found = try? Program.output(
      of: ["git", "config"] + arguments,
      // By that variable `git config` would read another file than git does.
      passed: { name, value, _ in name == "GIT_CONFIG" ? nil : value })
    // 1: nothing is set.
    guard let found, found.status == 0 || found.status == 1 && found.text.isEmpty else { return nil }
    return found.text
  }
}
