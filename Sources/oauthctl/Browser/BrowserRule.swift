import AgentWire
import HTTPTerms

/// Which program opens a URL, tried in this order.
///
/// `$BROWSER` is split at `:`; each entry is one program, looked up in `PATH` unless it holds a `/`, and the URL is its
/// only argument. An entry with a blank or `%s` is a shell line in other tools; no shell runs here, so it is left out
/// and named. Without `BROWSER`: `xdg-open`, `wslview`, `open`; without a display `wslview` alone, since the others start
/// what shows nothing and say that all is well.
struct BrowserRule: Sendable, Equatable {
  var programs: [String]
  /// Entries of `$BROWSER` that are not one program.
  var refused: [String]

  init(_ environment: Environment) {
    guard let list = environment.raw("BROWSER") else {
      programs = environment.hasDisplay ? ["xdg-open", "wslview", "open"] : ["wslview"]
      refused = []
      return
    }
    let entries = list.split(separator: ":").map(String.init)
    programs = entries.filter(Self.isOneProgram)
    refused = entries.filter { !Self.isOneProgram($0) }
  }

  private static func isOneProgram(_ entry: String) -> Bool {
    !entry.hasPrefix("-")
      && entry.unicodeScalars.allSatisfy { PrintableText.isShownAsIs($0) && !$0.properties.isWhitespace }
      && !entry.contains("%s")
  }

  /// Whether a URL may be handed to a browser: https, or http on this machine, and nothing in it that a program could
  /// take for an option or a second argument.
  static func isSafe(_ url: String) -> Bool {
    guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }) else { return false }
    return (url.hasPrefix("https://") || url.hasPrefix("http://")) && (try? Origin(of: url)) != nil
  }
}
