import OAuthProtocol
import Testing

@Suite struct RedirectURITests {
  @Test(
    "a registered redirect URI is sent as registered, with the port that listens",
    arguments: [
      ("http://127.0.0.1/callback", ["127.0.0.1"], nil, "http://127.0.0.1:8914/callback"),
      ("http://127.0.0.1:8765/callback", ["127.0.0.1"], 8_765, "http://127.0.0.1:8765/callback"),
      ("http://127.0.0.1", ["127.0.0.1"], nil, "http://127.0.0.1:8914"),
      ("http://127.0.0.1/", ["127.0.0.1"], nil, "http://127.0.0.1:8914/"),
      ("http://[::1]/cb", ["::1"], nil, "http://[::1]:8914/cb"),
      ("http://[::1]:7/a/b", ["::1"], 7, "http://[::1]:7/a/b"),
      ("http://localhost/cb", ["127.0.0.1", "::1"], nil, "http://localhost:8914/cb"),
      ("http://Localhost:80/cb", ["127.0.0.1", "::1"], 80, "http://Localhost:80/cb"),
      ("http://127.0.0.2/cb", ["127.0.0.2"], nil, "http://127.0.0.2:8914/cb"),
      ("https://app.example/cb", [], nil, "https://app.example/cb"),
      ("https://localhost:8443/cb", [], 8_443, "https://localhost:8443/cb"),
      ("com.example.app:/callback", [], nil, "com.example.app:/callback"),
      ("com.example.my-app2://oauth/cb", [], nil, "com.example.my-app2://oauth/cb"),
    ] as [(String, [String], Int?, String)])
  func accepts(text: String, listen: [String], port: Int?, sent: String) throws {
    let redirect = try RedirectURI(text)
    #expect(redirect.listenAddresses == listen)
    #expect(redirect.port == port)
    #expect(redirect.parameter(port: 8_914) == sent)
  }

  @Test(
    "with a certificate https on loopback is listened at, by the name that the certificate has to hold",
    arguments: [
      ("https://localhost:8443/cb", ["127.0.0.1", "::1"], "localhost", "https://localhost:8443"),
      ("https://LocalHost:8443/cb", ["127.0.0.1", "::1"], "localhost", "https://LocalHost:8443"),
      ("https://127.0.0.1/cb", ["127.0.0.1"], "127.0.0.1", "https://127.0.0.1:8443"),
      ("https://[::1]:8443", ["::1"], "::1", "https://[::1]:8443"),
      ("https://app.example:8443/cb", [], nil, "http://127.0.0.1:8443"),
      ("http://[::1]:8443/cb", ["::1"], nil, "http://127.0.0.1:8443"),
      ("com.example.app:/cb", [], nil, "http://127.0.0.1:8443"),
    ] as [(String, [String], String?, String)])
  func certified(text: String, listen: [String], host: String?, origin: String) throws {
    let redirect = try RedirectURI(text, hasCertificate: true)
    #expect(redirect.listenAddresses == listen && redirect.certifiedHost == host)
    #expect(redirect.origin(address: "127.0.0.1", port: 8_443) == origin)
    #expect(try RedirectURI(text).certifiedHost == nil)
    let registered = try redirect.registered(at: "https://as.example")
    #expect(registered.certifiedHost == host && registered.isLoopback == redirect.isLoopback)
  }

  @Test("a client is registered with a path of the issuer's own, where none was named, as often as it is registered")
  func registered() throws {
    let issuer = "https://as.example/tenant"
    // The first 16 digits of `printf %s https://as.example/tenant | sha256sum`.
    let path = "/93446f4cade49d42/callback"
    #expect(try RedirectURI("http://127.0.0.1:20001").registered(at: issuer).text == "http://127.0.0.1:20001" + path)
    #expect(
      try RedirectURI("http://localhost").registered(at: issuer).parameter(port: 7) == "http://localhost:7" + path)
    let other = try RedirectURI("http://127.0.0.1:20001").registered(at: issuer + "/")
    #expect(other.text.hasSuffix("/callback") && !other.text.hasSuffix(path))
    for text in [
      "http://127.0.0.1/callback", "http://127.0.0.1:1/", "https://app.example", "https://app.example/cb",
      "com.example.app:/cb",
    ] {
      #expect(try RedirectURI(text).registered(at: issuer).text == text)
    }
  }

  @Test(
    "a redirect URI that cannot be listened on or pasted is refused",
    arguments: [
      "", "urn:ietf:wg:oauth:2.0:oob", "com.example.app", "com.example.app:cb",
      "com.example.app:/cb?x=1", "com.example.app:/cb#f", "com.example.app:/a b", "com.example.app:/%41",
      "Com.example:/cb",
      "com..app:/cb", ".com.app:/cb", "javascript:/cb", "1com.app:/cb", "com.app/x:/cb",
      "com.example.app:/" + String(repeating: "c", count: 1_024), "http://app.example/cb", "http://0.0.0.0/cb",
      "http://127.0.0.1/cb?x=1", "http://127.0.0.1/cb#f", "http://127.0.0.1/cb?", "http://u@127.0.0.1/cb",
      "http://127.0.0.1:0/cb", "http://127.0.0.1:99999/cb", "http://127.1/cb", "http://127.0.0.1/a b",
    ])
  func refuses(text: String) {
    #expect(throws: ProtocolError.self) { try RedirectURI(text) }
  }
}
