import HTTPTerms

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
    let written = Self.scheme(of: proxy).isEmpty ? "http://" + proxy : proxy
    self.proxy = written.hasSuffix("/") ? String(written.dropLast()) : written
    let list = Self.exceptionNames.lazy.compactMap { environment[$0] }.first ?? ""
    for entry in list.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }).map(String.init) {
      if let at = entry.utf8.lastIndex(of: UInt8(ascii: "@")) {
        // What stands before may be a password.
        leftOut.append("…" + entry[at...])
      } else if isRange(entry) {
        exceptions.append(entry)
      } else if entry.contains("/") {
        leftOut.append(entry.contains(":") ? Self.scheme(of: entry) + "…" : entry)
      } else {
        let entry = Self.bracketed(entry.hasPrefix("*.") ? String(entry.dropFirst()) : entry)
        if !exceptions.contains(entry) { exceptions.append(entry) }
      }
    }
  }

  /// What keeps it from being written, without a part of it; nil: nothing.
  var problem: String? { ProxyURL.problem(with: proxy) }

  /// The proxy without its user name and password; nil: no place is left that can be told from them.
  var place: String? {
    let place =
      proxy.utf8.lastIndex(of: UInt8(ascii: "@")).map {
        Self.scheme(of: proxy) + String(decoding: proxy.utf8[$0...].dropFirst(), as: UTF8.self)
      } ?? proxy
    return ProxyURL.problem(with: place) == nil ? place : nil
  }

  /// What stands before the place, with `://`; empty: nothing, and a colon is that of a password or a port.
  private static func scheme(of proxy: String) -> String {
    let name = proxy.utf8.prefix { $0 != UInt8(ascii: ":") }
    let isName = name.allSatisfy {
      UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 || "0123456789+-.".utf8.contains($0)
    }
    let mark = proxy.utf8[name.endIndex...].prefix(3)
    return isName && mark.elementsEqual("://".utf8) ? String(proxy[..<mark.endIndex]) : ""
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
