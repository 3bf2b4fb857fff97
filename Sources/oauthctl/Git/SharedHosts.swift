import AgentWire
import SystemFacts

/// Hosts where several accounts fit and no file says which is meant: git is given no token there before it names one.
struct SharedHosts: Equatable {
  static let advice =
    "write  default = true  into the file of one, `paths` into each, or the account's name into the address "
    + "(https://NAME@…)"

  var url: String
  var accounts: [String]

  var sentence: String {
    let shown = accounts.prefix(4).joined(separator: ", ") + (accounts.count > 4 ? ", …" : "")
    return "\(accounts.count) accounts fit \(url), and none is the default: \(shown)"
  }

  /// `text` reads a file.
  static func undecided(
    _ accounts: [AccountSummary], among hosts: [String], _ surroundings: Surroundings,
    _ text: (String) -> String? = { path in FileBytes.contents(of: path).map { String(decoding: $0, as: UTF8.self) } }
  ) -> [SharedHosts] {
    guard let folder = surroundings.folder(.configuration) else { return [] }
    let able = accounts.filter { ![.new, .loginRequired, .locked].contains($0.state) }
    var keys: [String: Set<String>] = [:]
    return hosts.compactMap { host in
      let url = GitSetup.url(host: host)
      let fitting = able.filter { $0.hosts.contains { GitSetup.url(host: $0) == url } }.map(\.account)
      guard fitting.count > 1 else { return nil }
      for name in fitting where keys[name] == nil {
        keys[name] = deciding(text("\(folder)/accounts.d/\(name).toml") ?? "")
      }
      guard !fitting.contains(where: { keys[$0]?.contains("default") ?? false }) else { return nil }
      // One that is for all other paths is no question.
      let left = fitting.filter { !(keys[$0]?.contains("paths") ?? false) }
      return left.count > 1 ? SharedHosts(url: url, accounts: left.sorted()) : nil
    }
  }

  /// The keys of a file that decide, in the spelling of docs/configuration.md.
  private static func deciding(_ definition: String) -> Set<String> {
    var found: Set<String> = []
    for line in definition.split(separator: "\n") {
      let parts = line.split(separator: "=", maxSplits: 1).map { String($0).trimmed }
      guard parts.count == 2 else { continue }
      if parts[0] == "paths" || parts[0] == "default" && parts[1].hasPrefix("true") { found.insert(parts[0]) }
    }
    return found
  }
}
