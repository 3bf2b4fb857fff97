import AgentWire

/// Logins whose account files are gone, or could not be read since the agent started. Only the hosts that each of them
/// serves are known.
struct UnreadLogins {
  /// All, by name.
  private var names: Set<String> = []
  /// Those for each origin.
  private(set) var byOrigin: [String: Set<String>] = [:]

  /// The first account file of which nothing is known, not even a login, so nobody can tell which hosts it is for.
  var unknownFile: ConfigurationProblem?

  mutating func add(_ name: String, serving origins: [String]) {
    names.insert(name)
    for origin in origins { byOrigin[origin, default: []].insert(name) }
  }

  /// The one that serves `origin` (nil: any) and has the `name` that somebody gave, else the first.
  func login(serving origin: String?, named name: String?) -> String? {
    guard let names = origin.map({ byOrigin[$0] ?? [] }) ?? names as Set<String>? else { return nil }
    return name.flatMap { names.contains($0) ? $0 : nil } ?? names.min()
  }
}
