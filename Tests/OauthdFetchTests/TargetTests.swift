import CCurl
import Glibc
import HTTPTerms
import Testing

@testable import oauthd_fetch

/// The agent compares hosts as `HTTPTerms` reads them; the request goes where libcurl reads them. Two readers of one URL
/// are a way to send a token elsewhere, so what the agent's reader accepts must mean the same to libcurl.
@Suite("A URL that the agent accepts leads where libcurl goes")
struct TargetTests {
  /// Scheme, host and port as libcurl has them, the port also where it is the scheme's own.
  private static func readByCurl(_ text: String) -> String? {
    guard let target = try? Target(text), let handle = curl_url() else { return nil }
    defer { curl_url_cleanup(handle) }
    var port: UnsafeMutablePointer<CChar>?
    guard curl_url_set(handle, CURLUPART_URL, text, UInt32(CURLU_DISALLOW_USER)) == CURLUE_OK,
      curl_url_get(handle, CURLUPART_PORT, &port, UInt32(CURLU_DEFAULT_PORT)) == CURLUE_OK, let port
    else { return nil }
    defer { curl_free(port) }
    return "\(target.scheme)://\(canonical(target.host)):\(String(cString: port))"
  }

  /// libcurl leaves an IPv6 address as it is written, and connects to what inet_pton(3) makes of it.
  private static func canonical(_ host: String) -> String {
    var (address, text) = (in6_addr(), [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN)))
    guard host.hasPrefix("["), inet_pton(AF_INET6, String(host.dropFirst().dropLast()), &address) == 1,
      let end = inet_ntop(AF_INET6, &address, &text, socklen_t(text.count))
    else { return host.lowercased() }
    return "[\(String(cString: end))]"
  }

  private static func readByAgent(_ text: String) -> String? {
    (try? WebURL(text))?.origin.withPort
  }

  /// What parsers of URLs are known to disagree about.
  static let hostile = [
    // Users and passwords before the host
    "https://good.example@evil.example/", "https://good.example:443@evil.example/", "https://@evil.example/",
    "https://good.example%40evil.example/", "https://good.example\\@evil.example/", "https://a:b@c@evil.example/",
    "https://good.example#@evil.example/", "https://good.example?@evil.example/", "https://good.example/@evil.example",
    "https://good.example;@evil.example/", "https://good.example&@evil.example#@other.example/",
    // Backslashes and other marks in the place of slashes
    "https:\\\\good.example\\", "https:/\\good.example", "https://good.example\\.evil.example/",
    "https:///good.example",
    "https:////good.example", "https:good.example", "https:/good.example", "//good.example", "https://good.example\\",
    // Blanks and control characters
    " https://good.example", "https://good.example ", "https://good.exa\tmple/", "https://good.example\t/",
    "ht\ttps://good.example", "https://good.example\n/", "https://good.example\r\nHost: evil.example",
    "https://good.example/\n", "https://good.example\u{B}/", "https://good.example%00.evil.example/",
    "https://good.example%0d%0aevil.example/", "https:// good.example/", "https://good.example\u{7F}/",
    // Percent signs in a host
    "https://%67ood.example/", "https://good%2eexample/", "https://good.example%2f@evil.example/", "https://%31.2.3.4/",
    "https://good.example%3a443/", "https://%5b::1%5d/", "https://good.example%/", "https://good.example%zz/",
    // Numbers that are addresses to some
    "https://127.1/", "https://2130706433/", "https://017700000001/", "https://0x7f000001/", "https://0x7f.0.0.1/",
    "https://0177.0.0.1/", "https://127.0.0.01/", "https://127.0.0.1./", "https://1.2.3/", "https://1.2.3.4.5/",
    "https://256.0.0.1/", "https://1.2.3.256/", "https://00.0.0.0/", "https://0/", "https://1.2.3.4a/", "https://1e3/",
    "https://0x/", "https://a.0x1/", "https://127.0.0.1.evil.example/", "https://4294967296/", "https://1.0x2.3.4/",
    "https://08.1.1.1/", "https://192.168.257/", "https://1.2.3.4/",
    // Dots
    "https://good.example./", "https://good.example../", "https://.good.example/", "https://good..example/",
    "https://./", "https://../", "https://good.example.:443/",
    // Addresses of IPv6
    "https://[::1]/", "https://[::1]:443/", "https://[0:0:0:0:0:0:0:1]/", "https://[::ffff:127.0.0.1]/",
    "https://[::FFFF:7F00:1]/", "https://[::127.0.0.1]/", "https://[2001:DB8::0:1]/", "https://[fe80::1%25eth0]/",
    "https://[fe80::1%eth0]/", "https://[fe80::1%250]/", "https://[::1/", "https://::1/", "https://::1]/",
    "https://[::1]evil.example/", "https://[::1].evil.example/", "https://[::1]:/", "https://[]/", "https://[:]/",
    "https://[::1]]/", "https://[[::1]]/", "https://[v1.fe80::a]/", "https://[::g]/", "https://[1.2.3.4]/",
    "https://[::1%00]/", "https://[1::2::3]/", "https://[0001:02:3:4:5:6:7:8]/", "https://[::01]/",
    "https://[::1.2.3.04]/", "https://[12345::]/", "https://[64:ff9b::1.2.3.4]/",
    // Ports
    "https://good.example:/", "https://good.example:0/", "https://good.example:00443/", "https://good.example:443/",
    "https://good.example:65535/", "https://good.example:65536/", "https://good.example:99999/",
    "https://good.example:4294967739/", "https://good.example:+443/", "https://good.example:-1/",
    "https://good.example:443:443/", "https://good.example: 443/", "https://good.example:443a/",
    "https://good.example:0x1bb/", "https://good.example:\u{664}\u{664}\u{663}/", "https://:443/",
    // International names, and what is mapped to other characters in them
    "https://b\u{FC}cher.example/", "https://xn--bcher-kva.example/", "https://good\u{3002}example/",
    "https://g\u{456}od.example/", "https://\u{FF47}ood.example/", "https://good.example\u{FF0F}evil.example/",
    "https://good.exam\u{AD}ple/", "https://\u{2460}.example/", "https://stra\u{DF}e.example/", "https://xn--/",
    "https://good.example\u{FF20}evil.example/", "https://\u{212A}.example/", "https://xn--a.example/",
    // Plain http
    "http://127.0.0.1/", "http://127.255.255.254:8080/", "http://127.0.0.1:80@evil.example/", "http://localhost/",
    "http://LOCALHOST/", "http://localhost./", "http://localhost.evil.example/", "http://app.localhost/",
    "http://[::1]/", "http://[0::1]/", "http://[::ffff:127.0.0.1]/", "http://127.000.000.001/", "http://127.1/",
    "http://0.0.0.0/", "http://[::]/", "http://128.0.0.1/", "http://good.example/", "http://127.0.0.1.good.example/",
    "http://127.0.0.256/", "http://017700000001/",
    // Schemes
    "HTTPS://good.example/", "httpS://GOOD.Example/", "httpss://good.example/", "file:///etc/passwd",
    "ftp://good.example/", "https:file:///etc/passwd", "data:,x", "good.example", "", "https", "https://", "https:",
    "https+unix://good.example/", "://good.example/",
    // Ordinary characters that are rare in hosts
    "https://good_host.example/", "https://-good.example/", "https://good-.example/", "https://good*.example/",
    "https://good.example,evil.example/", "https://good.example;x/", "https://good!.example/",
    "https://(good.example)/",
    "https://good.example|x/", "https://{good,evil}.example/", "https://good[1-2].example/",
    "https://\"good.example\"/",
    "https://<good.example>/", "https://`good.example`/", "https://good^.example/", "https://~good.example/",
    "https://good=.example/", "https://$good.example/", "https://g'ood.example/",
  ]

  @Test("for URLs that parsers disagree about", arguments: hostile)
  func agree(text: String) {
    guard let agents = Self.readByAgent(text) else { return }
    #expect(Self.readByCurl(text) == agents)
  }

  @Test("for pieces of such URLs put together by chance, from fixed seeds", arguments: 0..<4)
  func agreeByChance(seed: Int) {
    let pieces = [
      "https://", "http://", "HTTPS://", "https:", "/", "//", "\\", "@", ":", ":443", ":80", ":0", ":08", ":65536", "?",
      "#", "%2e", "%40", "%00", " ", "\t", "\n", ".", "..", "-", "_", "0x7f", "127.0.0.1", "127.1", "1", "01", "256",
      "[::1]", "[::ffff:1.2.3.4]", "[fe80::1%25lo]", "[", "]", "localhost", "LocalHost", "good.example", "xn--e1a",
      "\u{FC}", "\u{FF0E}", "\u{AD}", "a", "B", ",", ";", "*", "!", "$", "&", "'", "(", "+", "=", "~", "|", "^", "{",
    ]
    var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 &+ 1
    func next(below bound: Int) -> Int {
      // Knuth's generator (MMIX): the low bits repeat soon, so the high ones are taken.
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    var accepted = 0
    for _ in 0..<5_000 {
      var text = pieces[next(below: 3)]
      for _ in 0..<(1 + next(below: 5)) { text += pieces[next(below: pieces.count)] }
      guard let agents = Self.readByAgent(text) else { continue }
      accepted += 1
      #expect(Self.readByCurl(text) == agents, "\(text)")
    }
    // Else nothing was compared.
    #expect(accepted > 100)
  }

  @Test(
    "and plain http beyond this machine is refused by both",
    arguments: ["http://127.0.0.1.evil.example/", "http://x/"])
  func refusesPlainHTTP(text: String) {
    #expect(throws: URLProblem.plainHTTP) { try WebURL(text) }
    #expect(throws: (any Error).self) { try Target(text) }
  }
}

extension Origin {
  fileprivate var withPort: String { "\(scheme.rawValue)://\(host):\(port)" }
}
