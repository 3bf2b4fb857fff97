import HTTPTerms
import OAuthProtocol

/// The proxy of `config.toml`, and what is reached without it.
///
/// An entry of `no_proxy` is a host with all names below it, a leading dot or none, or an address; with a port it means
/// that port alone. It may be a range of addresses, and `*` is everything. Names are compared as they stand in the URL:
/// nothing is resolved for it.
struct ProxyRules: Sendable, Equatable {
  var proxy: String?
  var exceptions: [String] = []

  /// The proxy for a request to `url`; nil: none. A URL that cannot be read gets none; its sender will refuse it.
  func proxy(for url: String) -> String? {
    guard let proxy, let origin = (try? WebURL(url))?.origin else { return nil }
    return exceptions.contains { Self.matches($0, origin) } ? nil : proxy
  }

  private static func matches(_ entry: String, _ origin: Origin) -> Bool {
    if entry == "*" { return true }
    if let range = AddressRange(entry) { return range.contains(origin.host) }
    let name = entry.hasPrefix(".") ? String(entry.dropFirst()) : entry
    guard let excepted = try? Origin(hostEntry: name) else { return false }
    // An entry without a port was given its scheme's default one: both spellings of it mean every port.
    guard excepted.port == excepted.scheme.defaultPort || excepted.port == origin.port else { return false }
    return origin.host == excepted.host || (!excepted.isAddress && origin.host.hasSuffix("." + excepted.host))
  }
}

/// Sends requests of accounts that name no proxy of their own by the rules of `config.toml`.
struct ProxiedTransport: HTTPTransport {
  let inner: any HTTPTransport
  /// Asked at every request: the file may have been read again.
  let rules: @Sendable () -> ProxyRules

  func perform(_ request: HTTPRequest, route: HTTPRoute) async -> HTTPOutcome {
    var route = route
    if route.proxy == nil { route.proxy = rules().proxy(for: request.url) }
    return await inner.perform(request, route: route)
  }
}
