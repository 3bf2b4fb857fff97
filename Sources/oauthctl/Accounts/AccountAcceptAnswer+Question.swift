import AgentWire
import HTTPTerms

/// What a person reads before a changed account file counts. What says where tokens and secrets go stands last, and the
/// question names each place that is new: however much a file holds, that is not pushed off the screen.
extension AccountAcceptAnswer {
  /// Where tokens and secrets would go, for the question.
  var destination: String {
    let places = places
    guard !places.isEmpty else { return "" }
    let named = Self.named(places)
    let rest = places.count - named.count
    return " to " + (rest == 0 ? Self.list(named) : named.joined(separator: ", ") + " and \(rest) more places")
  }

  /// What changes, and where everything goes then.
  var lines: [String] {
    func line(_ difference: DefinitionDifference) -> String {
      "\(difference.key): \(difference.was) → \(difference.now)"
    }
    let leading = differences.filter { Self.places.contains($0.key) }
    let others = differences.filter { !Self.places.contains($0.key) }.map(line)
    let last = Self.places.compactMap { key in leading.first { $0.key == key } }.map(line)
    guard !differences.isEmpty, let endpoints else { return others + last }
    let used =
      ["With the file as it is now, the account uses:"]
      + endpoints.sorted { $0.key < $1.key }.map { "  \($0.key): \($0.value)" }
    return others + used + last + unnamedHosts
  }

  /// New hosts, where there are more than the question names.
  var unnamedHosts: [String] { Self.named(places).count < places.count ? newHosts : [] }

  private var newHosts: [String] {
    let hosts = hostsAdded
    return hosts.isEmpty ? [] : ["\(hosts.count) new hosts get tokens:"] + hosts.map { "  " + $0 }
  }

  /// The token endpoint's origin, and those that were not there before; each once.
  private var places: [String] {
    let changed = differences.filter { $0.key != "hosts" && Self.places.contains($0.key) && !Self.isAtHome($0) }
    let urls = [endpoints?["token_endpoint"]].compactMap(\.self) + changed.map(\.now)
    let origins = urls.compactMap(NewAccount.origin) + hostsAdded
    return origins.enumerated().filter { !origins[..<$0.offset].contains($0.element) }.map(\.element)
  }

  /// A redirect on this machine: the code comes back to the agent.
  private static func isAtHome(_ difference: DefinitionDifference) -> Bool {
    difference.key == "redirect_uri" && (try? Origin(of: difference.now))?.isLoopback == true
  }

  /// Origins that get tokens and did not before.
  private var hostsAdded: [String] {
    guard let hosts = differences.first(where: { $0.key == "hosts" }) else { return [] }
    let before = Set(hosts.was.split(separator: " "))
    return hosts.now.split(separator: " ").filter { !before.contains($0) }.map(String.init)
  }

  /// Keys of an account file that say to whom something is sent, and who is believed to be them; in the order of the screen.
  private static let places = [
    "ca_file", "ca_file (content)", "redirect_uri", "proxy", "issuer", "revocation_endpoint",
    "device_authorization_endpoint", "pushed_authorization_request_endpoint", "authorization_endpoint",
    "token_endpoint",
    "hosts",
  ]

  /// Ten rows of 80 columns: with what stands around them, half of a screen of 24.
  private static let nameCharacters = 800

  /// As many as a question has room for; the first in any case.
  private static func named(_ places: [String]) -> [String] {
    var used = 0
    return Array(
      places.enumerated().prefix { place in
        used += place.element.count + 2
        return place.offset == 0 || used <= nameCharacters
      }.map(\.element))
  }

  private static func list(_ names: [String]) -> String {
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    return names.dropLast().joined(separator: ", ") + " and " + last
  }
}
