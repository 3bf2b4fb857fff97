import AgentWire
package import Logging

/// The command line of `oauthd`. There is one option: an argument parser would bring every conformance of its own, which
/// the runtime reads through at each start.
package enum AgentArguments: Equatable {
  /// Serve. `logLevel` comes before `log_level` of config.toml; nil: that one counts.
  case serve(logLevel: Logger.Level?)
  /// Print this and end.
  case show(String)
  /// The command line is wrong; says why.
  case wrong(String)

  /// The status for a wrong command line, as EX_USAGE in sysexits(3).
  package static let wrongStatus: Int32 = 64

  /// `words` without the program's name.
  package init(_ words: [String]) {
    self = .serve(logLevel: nil)
    var rest = words[...]
    while let word = rest.popFirst() {
      switch word {
      case "-h", "--help":
        self = .show(Self.help)
        return
      case "--version":
        self = .show(ProjectVersion.current)
        return
      case "--log-level":
        self = Self.logLevel(rest.popFirst())
      default:
        let prefix = "--log-level="
        self = word.hasPrefix(prefix) ? Self.logLevel(String(word.dropFirst(prefix.count))) : .wrong("unknown argument")
      }
      if case .wrong = self { return }
    }
  }

  private static func logLevel(_ name: String?) -> Self {
    guard let level = name.flatMap(Logger.Level.init(rawValue:)) else {
      return .wrong("--log-level takes error, warning, info or debug")
    }
    return .serve(logLevel: level)
  }

  private static let help = """
    The OAuth credential agent: owns your logins and hands out access tokens. oauthctl or systemd starts it
    when it is needed. All other settings are in config.toml.

    Usage: oauthd [--log-level LEVEL]

      --log-level LEVEL  What to log: error, warning, info or debug. Comes before log_level in config.toml.
      --version          Show the version.
      -h, --help         Show this help.
    """
}
