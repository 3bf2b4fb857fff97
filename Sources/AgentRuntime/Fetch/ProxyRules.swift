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
    if let proxy = route.proxy {
      return Self.naming(proxy, of: "the account", await inner.perform(request, route: route))
    }
    guard let proxy = rules().proxy(for: request.url) else { return await inner.perform(request, route: route) }
    var route = route
    route.proxy = proxy
    return Self.naming(proxy, of: "config.toml", await inner.perform(request, route: route))
  }

  /// `outcome`, where it is the proxy's fault, with the proxy that is meant: no name or port in it is the server's.
  static func naming(_ proxy: String, of place: String, _ outcome: HTTPOutcome) -> HTTPOutcome {
    func named(_ failure: HTTPFailure) -> HTTPFailure {
      guard failure.reason == .proxy else { return failure }
      var named = failure
      named.message = "the proxy \(proxy) (of \(place)) does not lead there: \(failure.message)"
      return named
    }
    return switch outcome {
    case .notSent(let failure): .notSent(named(failure))
    case .sentNoAnswer(let failure): .sentNoAnswer(named(failure))
    case .answered: outcome
    }
  }
}
