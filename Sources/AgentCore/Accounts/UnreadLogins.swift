import AgentWire

/// Logins whose account files are gone, or could not be read since the agent started. Only the hosts that each of them
/// serves are known.
struct UnreadLogins {
  /// The first of all, by name.
  private(set) var first: String?
  /// The first for each origin.
  private(set) var byOrigin: [String: String] = [:]

  /// The first account file of which nothing is known, not even a login, so nobody can tell which hosts it is for.
  var unknownFile: ConfigurationProblem?

  mutating func add(_ name: String, serving origins: [String]) {
    first = min(first ?? name, name)
    for origin in origins { byOrigin[origin] = min(byOrigin[origin] ?? name, name) }
  }

  /// The first that serves `origin` (nil: any).
  func login(serving origin: String?) -> String? { origin.map { byOrigin[$0] } ?? first }
}
