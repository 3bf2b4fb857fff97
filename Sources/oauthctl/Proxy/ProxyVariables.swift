/// The proxy that a shell's variables tell, as the agent's file wants it written.
struct ProxyVariables: Equatable {
  /// `SCHEME://HOST:PORT`.
  var proxy: String
  var exceptions: [String] = []
  /// Entries of the variable that have no counterpart, as URLs, without what may be secret in them.
  var leftOut: [String] = []

  /// curl's order: the small letters first, and what is for https before what is for all.
  static let proxyNames = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
  static let exceptionNames = ["no_proxy", "NO_PROXY"]

  /// Nil when no variable names a proxy. What a proxy may look like is for the agent to judge.
  init?(_ environment: Environment) {
    guard let proxy = Self.proxyNames.lazy.compactMap({ environment[$0] }).first else { return nil }
    let written = proxy.contains("://") ? proxy : "http://" + proxy
    self.proxy = written.hasSuffix("/") ? String(written.dropLast()) : written
    let list = Self.exceptionNames.lazy.compactMap { environment[$0] }.first ?? ""
    for entry in list.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }).map(String.init) {
      if let at = entry.lastIndex(of: "@") {
        // What stands before may be a password.
        leftOut.append("…" + entry[at...])
      } else if isRange(entry) {
        exceptions.append(entry)
      } else if entry.contains("/") {
        leftOut.append(entry)
      } else {
        let entry = Self.bracketed(entry.hasPrefix("*.") ? String(entry.dropFirst()) : entry)
        if !exceptions.contains(entry) { exceptions.append(entry) }
      }
    }
  }

  /// The proxy without its user name and password; nil: it has none.
  var withoutSecrets: String? {
    guard let scheme = proxy.range(ofText: "://") else { return nil }
    let rest = proxy[scheme.upperBound...]
    return rest.lastIndex(of: "@").map { proxy[..<scheme.upperBound] + rest[rest.index(after: $0)...] }.map(String.init)
  }

  init(proxy: String, exceptions: [String]) {
    self.proxy = proxy
    self.exceptions = exceptions
  }

  /// Whether it looks like `ADDRESS/BITS`; whether it is one is for the agent to judge.
  private func isRange(_ entry: String) -> Bool {
    let parts = entry.split(separator: "/", omittingEmptySubsequences: false)
    return parts.count == 2 && !parts[1].isEmpty && parts[1].allSatisfy(\.isNumber)
  }

  /// IPv6 addresses stand bare in the variable.
  private static func bracketed(_ entry: String) -> String {
    entry.count(where: { $0 == ":" }) > 1 && !entry.hasPrefix("[") ? "[\(entry)]" : entry
  }
}
