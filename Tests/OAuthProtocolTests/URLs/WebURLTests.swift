import OAuthProtocol
import Testing

@Suite struct WebURLTests {
  @Test(
    "a server's URL is taken as it is written",
    arguments: [
      ("https://example.com", "https://example.com", "", nil),
      ("https://example.com/", "https://example.com", "/", nil),
      ("HTTPS://Example.COM/Path", "https://example.com", "/Path", nil),
      ("https://example.com:443/a", "https://example.com", "/a", nil),
      ("https://example.com:8443/a/b?x=1&y=%20", "https://example.com:8443", "/a/b", "x=1&y=%20"),
      ("https://h/?", "https://h", "/", ""),
      ("https://h?a=b/c?d", "https://h", "", "a=b/c?d"),
      ("https://my_host.internal/~u/x;y@z!$&'()*+,=:", "https://my_host.internal", "/~u/x;y@z!$&'()*+,=:", nil),
      ("https://192.168.1.255/t", "https://192.168.1.255", "/t", nil),
      ("https://[2001:DB8:0:0::1]/t", "https://[2001:db8::1]", "/t", nil),
      ("https://xn--bcher-kva.example/t", "https://xn--bcher-kva.example", "/t", nil),
      ("http://127.0.0.1:8080/t", "http://127.0.0.1:8080", "/t", nil),
      ("http://127.255.0.9/t", "http://127.255.0.9", "/t", nil),
      ("http://[::1]:9/t", "http://[::1]:9", "/t", nil),
      ("http://[0:0:0:0:0:0:0:1]/t", "http://[::1]", "/t", nil),
      ("http://localhost/t", "http://localhost", "/t", nil),
      ("http://LOCALHOST:80/t", "http://localhost", "/t", nil),
      ("https://h/a.b/..c/...", "https://h", "/a.b/..c/...", nil),
    ] as [(String, String, String, String?)])
  func accepts(text: String, origin: String, path: String, query: String?) throws {
    let url = try WebURL(text)
    #expect(url.origin.description == origin)
    #expect(url.path == path)
    #expect(url.query == query)
    #expect(url.text == text)
  }

  @Test(
    "a URL that could mean two things is refused",
    arguments: [
      ("", .empty),
      ("https://" + String(repeating: "a", count: 5_000), .tooLong),
      ("https://example.com/a b", .forbiddenCharacter),
      (" https://example.com", .forbiddenCharacter),
      ("https://example.com/\n", .forbiddenCharacter),
      ("https://example.com/\0", .forbiddenCharacter),
      ("https://example.com/\t", .forbiddenCharacter),
      ("https://exämple.com/", .forbiddenCharacter),
      ("https://example.com/ü", .forbiddenCharacter),
      ("https://example.com\\@evil.example/", .userInfo),
      ("https://example.com\\.evil.example/", .host),
      ("https://h/\\x", .forbiddenCharacter),
      ("https://h/<x>", .forbiddenCharacter),
      ("https://h/?q={x}", .forbiddenCharacter),
      ("https://h/?q=a|b", .forbiddenCharacter),
      ("https://h/?q=\"", .forbiddenCharacter),
      ("https://h/%", .badEscape),
      ("https://h/%2", .badEscape),
      ("https://h/%zz", .badEscape),
      ("https://h/?a=%4", .badEscape),
      ("example.com", .scheme),
      ("//example.com/", .scheme),
      ("ftp://example.com/", .scheme),
      ("file:///etc/passwd", .scheme),
      ("javascript:alert(1)", .scheme),
      ("https:/example.com", .scheme),
      ("https:example.com", .scheme),
      ("httpss://example.com", .scheme),
      ("http://example.com/", .plainHTTP),
      ("http://127.0.0.1.example.com/", .plainHTTP),
      ("http://localhost.example.com/", .plainHTTP),
      ("http://app.localhost/", .plainHTTP),
      ("http://0.0.0.0/", .plainHTTP),
      ("http://128.0.0.1/", .plainHTTP),
      ("http://[::]/", .plainHTTP),
      ("http://[::ffff:127.0.0.1]/", .plainHTTP),
      ("https://user@example.com/", .userInfo),
      ("https://user:pw@example.com/", .userInfo),
      ("https://example.com@evil.example/", .userInfo),
      ("http://127.0.0.1:80@evil.example/", .userInfo),
      ("https://", .host),
      ("https:///path", .host),
      ("https://?q", .host),
      ("https://a..b/", .host),
      ("https://.a/", .host),
      ("https://example.com./", .host),
      ("https://-a.example/", .host),
      ("https://a-.example/", .host),
      ("https://a%2eb/", .host),
      ("https://a,b/", .host),
      ("https://*.example.com/", .host),
      ("https://127.1/", .host),
      ("https://0x7f.0.0.1/", .host),
      ("https://127.0.0.0x1/", .host),
      ("https://2130706433/", .host),
      ("https://127.0.0.01/", .host),
      ("https://1.2.3.256/", .host),
      ("https://1.2.3.4.5/", .host),
      ("https://[::1/", .host),
      ("https://[::1]x/", .host),
      ("https://[fe80::1%25eth0]/", .host),
      ("https://[]/", .host),
      ("https://[v1.x]/", .host),
      ("https://::1/", .host),
      ("https://" + String(repeating: "a", count: 64) + ".example/", .host),
      ("https://" + String(repeating: "a.", count: 130) + "example/", .host),
      ("https://h:/", .port),
      ("https://h:0/", .port),
      ("https://h:080/", .port),
      ("https://h:65536/", .port),
      ("https://h:123456/", .port),
      ("https://h:+1/", .port),
      ("https://h:80:80/", .port),
      ("https://h/#f", .fragment),
      ("https://h#", .fragment),
      ("https://h/a/../b", .dotSegment),
      ("https://h/./b", .dotSegment),
      ("https://h/..", .dotSegment),
      ("https://h/%2e%2E/b", .dotSegment),
      ("https://h/.%2e/b", .dotSegment),
    ] as [(String, URLProblem)])
  func refuses(text: String, problem: URLProblem) {
    do {
      let url = try WebURL(text)
      Issue.record("accepted as \(url.origin) \(url.path)")
    } catch .url(let shown, let found) {
      #expect(found == problem)
      #expect(shown.utf8.allSatisfy { $0 >= 0x20 })
    } catch {
      Issue.record("\(error)")
    }
  }

  @Test(
    "what is appended to a URL leaves its own query alone (RFC 6749 §3.1)",
    arguments: [
      ("https://h", "https://h?a=1&b=x%20y"),
      ("https://h/p", "https://h/p?a=1&b=x%20y"),
      ("https://h/p?", "https://h/p?a=1&b=x%20y"),
      ("https://h/p?tenant=x", "https://h/p?tenant=x&a=1&b=x%20y"),
      ("https://h/p?tenant=x&", "https://h/p?tenant=x&a=1&b=x%20y"),
      ("https://h/p?t=%2F+", "https://h/p?t=%2F+&a=1&b=x%20y"),
    ])
  func appends(text: String, expected: String) throws {
    var parameters = FormParameters()
    parameters.append("a", "1")
    parameters.append("b", "x y")
    #expect(try WebURL(text).appendingQuery(parameters) == expected)
  }

  @Test("a parameter that the URL has already is not sent twice", arguments: ["a=9", "x=1&a", "%61=2"])
  func refusesDuplicate(query: String) throws {
    var parameters = FormParameters()
    parameters.append("a", "1")
    let url = try WebURL("https://h/p?" + query)
    #expect(throws: ProtocolError.duplicateParameter("a")) { try url.appendingQuery(parameters) }
  }
}
