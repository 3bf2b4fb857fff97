import HTTPTerms
import Testing

@Suite struct OriginTests {
  @Test(
    "an entry of hosts is one exact origin",
    arguments: [
      ("example.com", "https://example.com"),
      ("Example.COM", "https://example.com"),
      ("example.com:443", "https://example.com"),
      ("example.com:8443", "https://example.com:8443"),
      ("https://example.com", "https://example.com"),
      ("https://example.com/", "https://example.com"),
      ("https://example.com:8443", "https://example.com:8443"),
      ("http://127.0.0.1:3000", "http://127.0.0.1:3000"),
      ("http://localhost", "http://localhost"),
      ("http://[::1]:81", "http://[::1]:81"),
      ("[2001:db8::1]:8443", "https://[2001:db8::1]:8443"),
      ("127.0.0.1:3000", "https://127.0.0.1:3000"),
    ])
  func accepts(entry: String, expected: String) throws {
    let origin = try Origin(hostEntry: entry)
    #expect(origin.description == expected)
    #expect(try Origin(hostEntry: origin.description) == origin)
  }

  @Test(
    "an entry of hosts that is more or less than an origin is refused",
    arguments: [
      ("", .empty), ("https://", .host), ("example.com/path", .path), ("https://example.com/path", .path),
      ("https://example.com?x", .query), ("https://example.com#x", .fragment), ("*.example.com", .host),
      ("example.com.", .host), ("user@example.com", .userInfo), ("http://example.com", .plainHTTP),
      ("ftp://example.com", .scheme), ("exa mple.com", .forbiddenCharacter), ("example.com\n", .forbiddenCharacter),
      ("пример.example", .forbiddenCharacter), ("example.com:", .port), ("example.com:x", .port),
      ("example.com//", .path), (String(repeating: "a", count: 301), .tooLong), ("127.1", .host),
    ] as [(String, URLProblem)])
  func refuses(entry: String, problem: URLProblem) {
    #expect(throws: problem) { try Origin(hostEntry: entry) }
  }

  @Test(
    "an authority is read as bytes, whoever hands it over",
    arguments: [
      "[::1\0]", "[::1\0x]", "h\0", "h\t", "h\n:1", " h", "h/", "h?", "h#", "", ":1", "h\u{301}", "[::1]\u{301}",
    ])
  func authority(text: String) {
    #expect(throws: URLProblem.host) { try Origin(scheme: .https, authority: text[...]) }
  }

  @Test(
    "a token goes to the same scheme, host and port only",
    arguments: [
      ("https://example.com/x?y", true), ("https://EXAMPLE.com:443/", true), ("https://example.com:8443/", false),
      ("https://example.com.evil.example/", false), ("https://xexample.com/", false),
      ("https://sub.example.com/", false),
      ("https://example.co/", false),
    ])
  func matches(url: String, expected: Bool) throws {
    #expect((try WebURL(url).origin == Origin(hostEntry: "example.com")) == expected)
  }

  @Test(
    "two hosts are one owner's where one is below the other",
    arguments: [
      ("www.google.com", "accounts.google.com", false), ("github.com", "github.com", true),
      ("login.example.com", "example.com", true), ("a.b.example.com", "example.com", true),
      ("evil.us.auth0.com", "victim.us.auth0.com", false), ("example.com", "com", false),
      ("github.com", "gitlab.com", false), ("microsoft.com", "login.microsoftonline.com", false),
      ("evil.co.uk", "bank.co.uk", false), ("login.bank.co.uk", "bank.co.uk", true),
      ("10.0.0.1", "20.0.0.1", false), ("localhost", "127.0.0.1", true), ("localhost", "example.com", false),
      ("notgoogle.com", "google.com", false), ("[2001:db8::1]", "[2001:db8::2]", false), ("intranet", "other", false),
    ])
  func sites(one: String, other: String, expected: Bool) throws {
    #expect(try Origin(hostEntry: one).sharesOwner(with: Origin(hostEntry: other)) == expected)
    #expect(try Origin(hostEntry: other).sharesOwner(with: Origin(hostEntry: one)) == expected)
  }

  @Test(
    "a host is this machine in each spelling that no name server has a say in",
    arguments: [
      ("127.0.0.1", true), ("127.9.9.9", true), ("localhost", true), ("[::1]", true), ("0.0.0.0", true),
      ("0.0.0.1", true), ("[::]", true), ("[::ffff:127.0.0.1]", true), ("[::ffff:7f00:1]", true),
      ("[::127.0.0.1]", true),
      ("[0:0:0:0:0:FFFF:0:0]", true), ("a.localhost", true), ("A.B.LocalHost", true), ("10.0.0.1", false),
      ("[::ffff:10.0.0.1]", false), ("[2001:db8::127]", false), ("[2001:db8::7f00:1]", false), ("0.example", false),
      ("127.example", false), ("localhost.example", false), ("notlocalhost", false), ("example.com", false),
    ])
  func thisMachine(host: String, expected: Bool) throws {
    #expect(try Origin(hostEntry: host).isThisMachine == expected)
  }

  @Test("http and https on loopback are different origins")
  func schemesDiffer() throws {
    #expect(try WebURL("http://127.0.0.1:443/").origin != Origin(hostEntry: "127.0.0.1"))
    #expect(try WebURL("http://localhost/").origin != WebURL("http://127.0.0.1/").origin)
  }
}
