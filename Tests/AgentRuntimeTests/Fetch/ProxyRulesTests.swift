import AgentTestSupport
import OAuthProtocol
import Sealing
import Synchronization
import Testing

@testable import AgentRuntime

@Suite("The proxy of config.toml")
struct ProxyRulesTests {
  private static let proxy = "http://proxy.example:3128"

  @Test(
    "An exception is a host, what is below a domain, an address, one port of those, a range, or everything",
    arguments: [
      ("https://id.example/token", [], true),
      ("https://id.example/token", ["id.example"], false), ("https://ID.Example/token", ["id.example"], false),
      ("https://a.id.example/", ["id.example"], false), ("https://a.id.example/", [".id.example"], false),
      ("https://id.example/", [".id.example"], false), ("https://bid.example/", ["id.example"], true),
      ("https://id.example.evil/", ["id.example"], true), ("https://id.example/", ["other", "id.example"], false),
      ("https://id.example:8443/", ["id.example"], false), ("https://id.example:8443/", ["id.example:8443"], false),
      ("https://id.example/", ["id.example:8443"], true), ("https://id.example/", ["*"], false),
      ("https://127.0.0.1/", ["127.0.0.1"], false), ("https://1.127.0.0.1.example/", ["127.0.0.1"], true),
      ("https://10.1.2.3/", ["10.0.0.0/8"], false), ("https://11.1.2.3/", ["10.0.0.0/8"], true),
      ("https://10.1.2.3:8443/", ["10.9.9.9/8"], false), ("https://10.example/", ["10.0.0.0/8"], true),
      ("https://172.31.0.1/", ["172.16.0.0/12"], false), ("https://172.32.0.1/", ["172.16.0.0/12"], true),
      ("https://10.0.0.1/", ["10.0.0.1/32"], false), ("https://10.0.0.2/", ["10.0.0.1/32"], true),
      ("https://1.2.3.4/", ["0.0.0.0/0"], false), ("https://[fd12::1]/", ["fd00::/8"], false),
      ("https://[fe80::1]/", ["fd00::/8"], true), ("https://[fd12::1]/", ["0.0.0.0/0"], true),
      ("https://[::1]/", ["[::1]"], false), ("https://[0:0::1]/", ["[::1]"], false), ("no address", [], false),
    ] as [(String, [String], Bool)])
  func exceptions(url: String, exceptions: [String], isProxied: Bool) {
    let rules = ProxyRules(proxy: Self.proxy, exceptions: exceptions)
    #expect(rules.proxy(for: url) == (isProxied ? Self.proxy : nil))
    #expect(ProxyRules(proxy: nil, exceptions: exceptions).proxy(for: url) == nil)
  }

  @Test("An account's own proxy comes first; every request asks the rules of its moment")
  func transport() async {
    let seen = RecordingTransport()
    let rules = Mutex(ProxyRules())
    let transport = ProxiedTransport(inner: seen, rules: { rules.withLock { $0 } })
    let request = HTTPRequest(.get, "https://id.example/")
    _ = await transport.perform(request, route: HTTPRoute())
    rules.withLock { $0 = ProxyRules(proxy: Self.proxy) }
    _ = await transport.perform(request, route: HTTPRoute())
    _ = await transport.perform(request, route: HTTPRoute(proxy: "http://own.example:1"))
    #expect(seen.routes.map(\.proxy) == [nil, Self.proxy, "http://own.example:1"])
  }
}
