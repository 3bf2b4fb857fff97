import OAuthProtocol
import Sealing
import Synchronization
import Testing

@testable import AgentRuntime

@Suite("The proxy of config.toml")
struct ProxyRulesTests {
  private static let proxy = "http://proxy.example:3128"

  @Test(
    "An exception is a host, what is below a domain, an address, one port of those, or everything",
    arguments: [
      ("https://id.example/token", [], true),
      ("https://id.example/token", ["id.example"], false), ("https://ID.Example/token", ["id.example"], false),
      ("https://a.id.example/", ["id.example"], false), ("https://a.id.example/", [".id.example"], false),
      ("https://id.example/", [".id.example"], false), ("https://bid.example/", ["id.example"], true),
      ("https://id.example.evil/", ["id.example"], true), ("https://id.example/", ["other", "id.example"], false),
      ("https://id.example:8443/", ["id.example"], false), ("https://id.example:8443/", ["id.example:8443"], false),
      ("https://id.example/", ["id.example:8443"], true), ("https://id.example/", ["*"], false),
      ("https://127.0.0.1/", ["127.0.0.1"], false), ("https://1.127.0.0.1.example/", ["127.0.0.1"], true),
      ("https://[::1]/", ["[::1]"], false), ("https://[0:0::1]/", ["[::1]"], false), ("no address", [], false),
    ] as [(String, [String], Bool)])
  func exceptions(url: String, exceptions: [String], isProxied: Bool) {
    let rules = ProxyRules(proxy: Self.proxy, exceptions: exceptions)
    #expect(rules.proxy(for: url) == (isProxied ? Self.proxy : nil))
    #expect(ProxyRules(proxy: nil, exceptions: exceptions).proxy(for: url) == nil)
  }

  @Test("An account's own proxy comes first; every request asks the rules of its moment")
  func transport() async {
    let seen = Recorder()
    let rules = Mutex(ProxyRules())
    let transport = ProxiedTransport(inner: seen, rules: { rules.withLock { $0 } })
    let request = HTTPRequest(.get, "https://id.example/")
    _ = await transport.perform(request, route: HTTPRoute())
    rules.withLock { $0 = ProxyRules(proxy: Self.proxy) }
    _ = await transport.perform(request, route: HTTPRoute())
    _ = await transport.perform(request, route: HTTPRoute(proxy: "http://own.example:1"))
    #expect(seen.proxies.withLock { $0 } == [nil, Self.proxy, "http://own.example:1"])
  }
}

private final class Recorder: HTTPTransport {
  let proxies = Mutex<[String?]>([])

  func perform(_ request: HTTPRequest, route: HTTPRoute) async -> HTTPOutcome {
    proxies.withLock { $0.append(route.proxy) }
    return .answered(HTTPAnswer(status: 204))
  }
}
