import AgentWire

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

  init(_ surroundings: Surroundings) {
    guard let list = surroundings.raw("BROWSER") else {
      programs = surroundings.hasDisplay ? ["xdg-open", "wslview", "open"] : ["wslview"]
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
    if url.hasPrefix("https://") { return url.utf8.count > "https://".utf8.count }
    guard url.hasPrefix("http://") else { return false }
    let authority = url.dropFirst("http://".count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    guard !authority.contains("@") else { return false }
    return LoopbackHost.matches(authority: String(authority))
  }
}

/// Whether a URL's authority names this machine by address, or as `localhost`.
enum LoopbackHost {
  static func matches(authority: String) -> Bool {
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else { return false }
      let rest = authority[authority.index(after: end)...]
      return authority[..<end] == "[::1" && isPort(rest)
    }
    let host = authority.prefix { $0 != ":" }
    guard isPort(authority[host.endIndex...]) else { return false }
    if host == "localhost" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127"
      && parts.allSatisfy { part in
        (1...3).contains(part.utf8.count) && part.utf8.allSatisfy { (48...57).contains($0) } && (Int(part) ?? 256) < 256
      }
  }

  private static func isPort(_ text: Substring) -> Bool {
    if text.isEmpty { return true }
    guard text.hasPrefix(":") else { return false }
    let digits = text.dropFirst()
    return digits.isEmpty || digits.utf8.count <= 5 && digits.utf8.allSatisfy { (48...57).contains($0) }
  }
}
