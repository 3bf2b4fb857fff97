import AgentClient
import ArgumentParser

/// `--verbose`, which every command has: what it does with the agent, and which programs it runs, on standard error.
struct Verbosity: ParsableArguments {
  @Flag(name: .shortAndLong, help: "Says on standard error what it asks the agent, and how long that takes.")
  var verbose = false

  func validate() {
    if verbose { Self.begin() }
  }

  static func begin() {
    let terminal = Terminal.live()
    ClientTrace.tell = { terminal.say("oauthctl: \($0)") }
  }

  /// Takes the flag off the front of a command line, where it stands before the command: the only place for it where
  /// the words after the command are another program's.
  static func taken(from words: [String]) -> [String] {
    let rest = words.drop { $0 == "-v" || $0 == "--verbose" }
    if rest.count < words.count { begin() }
    return Array(rest)
  }
}
