import HTTPTerms
import Testing

@testable import HelperFormats

@Suite("Challenges")
struct ChallengeTests {
  @Test(
    "say whether a newer token would do",
    arguments: [
      (["Bearer"], true), (["Bearer realm=\"x\""], true), (["Bearer error=\"invalid_token\""], true),
      (["Basic realm=\"x\"", "Bearer error=\"invalid_token\""], true), (["Bearer error=\"insufficient_scope\""], false),
      (["Bearer error=\"invalid_request\""], false), (["Basic realm=\"x\""], false), ([], false),
      (["Bearer error=\"insufficient_scope\"", "Bearer"], false), (["Digest realm=\"Bearer\""], false),
    ] as [([String], Bool)])
  func verdict(fields: [String], helps: Bool) {
    #expect((BearerVerdict(Challenge.parse(fields)) == .refreshMayHelp) == helps)
  }

  struct Dump: CustomTestStringConvertible {
    var testDescription: String
    var text: String
    var status: Int?
    var isWhole = true
    var asks = false
  }

  static let refused = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer error=\"invalid_token\"\r\n\r\n"
  static let dumps = [
    Dump(testDescription: "one answer", text: "HTTP/1.1 200 OK\r\nX: y\r\n\r\n", status: 200),
    Dump(testDescription: "a refusal", text: refused, status: 401, asks: true),
    Dump(
      testDescription: "HTTP/2 has no reason", text: "HTTP/2 401 \r\nwww-authenticate: Bearer\r\n\r\n", status: 401,
      asks: true),
    Dump(testDescription: "bare line feeds", text: "HTTP/2 401\nwww-authenticate: Bearer\n\n", status: 401, asks: true),
    Dump(
      testDescription: "after 100 Continue", text: "HTTP/1.1 100 Continue\r\n\r\n" + refused, status: 401, asks: true),
    Dump(
      testDescription: "after a proxy's answer", text: "HTTP/1.1 200 Connection established\r\n\r\n" + refused,
      status: 401, asks: true),
    Dump(
      testDescription: "after a proxy's refusal",
      text:
        "HTTP/1.1 407 Proxy\r\nProxy-Authenticate: Basic\r\n\r\nHTTP/1.1 200 Connection established\r\n\r\nHTTP/2 200\r\n\r\n",
      status: 200),
    Dump(
      testDescription: "after a redirect", text: "HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n" + refused, status: 401,
      asks: true),
    Dump(testDescription: "a redirect away from a refusal", text: refused + "HTTP/1.1 200 OK\r\n\r\n", status: 200),
    Dump(
      testDescription: "the fields of an earlier block do not count",
      text: "HTTP/1.1 302 Found\r\nWWW-Authenticate: Bearer\r\n\r\nHTTP/1.1 401 Unauthorized\r\n\r\n", status: 401),
    Dump(
      testDescription: "trailers do not count",
      text: "HTTP/1.1 401 Unauthorized\r\n\r\nWWW-Authenticate: Bearer\r\n\r\n", status: 401),
    Dump(
      testDescription: "cut before its end", text: "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\n",
      status: 401, isWhole: false, asks: true),
    Dump(
      testDescription: "a folded field",
      text: "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\n error=\"invalid_token\"\r\n\r\n", status: 401,
      asks: true),
    Dump(
      testDescription: "two fields",
      text: "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic\r\nWWW-Authenticate: Bearer\r\n\r\n", status: 401,
      asks: true),
    Dump(
      testDescription: "403 is no refusal of the token",
      text: "HTTP/1.1 403 Forbidden\r\nWWW-Authenticate: Bearer error=\"invalid_token\"\r\n\r\n", status: 403),
    Dump(
      testDescription: "too few rights",
      text: "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer error=\"insufficient_scope\"\r\n\r\n", status: 401),
    Dump(testDescription: "nothing", text: "", status: nil),
    Dump(testDescription: "an informational answer alone", text: "HTTP/1.1 100 Continue\r\n\r\n", status: nil),
    Dump(testDescription: "no HTTP", text: "220 ftp\r\n", status: nil),
    Dump(testDescription: "a status of two digits", text: "HTTP/1.1 40 x\r\n\r\n", status: nil),
    Dump(testDescription: "a status beyond 599", text: "HTTP/1.1 600 x\r\n\r\n", status: nil),
  ]

  @Test("stand in the last block of a header dump", arguments: dumps)
  func dump(_ example: Dump) {
    let dump = HeaderDump(Array(example.text.utf8))
    #expect(dump?.status == example.status)
    #expect((dump?.isWhole ?? true) == example.isWhole)
    #expect((dump?.asksForNewToken() ?? false) == example.asks)
  }

  static let origins = ["https://api.example:8443/", "http://localhost/"].compactMap { try? Origin(of: $0) }

  @Test(
    "say nothing about the token once a redirect has led elsewhere",
    arguments: [
      ("/x", false), ("x:y", true), ("x/y:z", false), ("?q=//other/", false), ("", false),
      ("https://api.example:8443/x", false), ("HTTPS://API.example:8443", false), ("//api.example:8443/x", false),
      ("http://localhost:80/x", false), ("http://LOCALHOST?x", false),
      ("https://api.example/x", true), ("https://api.example:443/", true), ("http://api.example:8443/", true),
      ("//api.example/x", true), ("//other/x", true), ("///other/x", true), ("https://other/x", true),
      ("https://u@api.example:8443/", true), ("https:/api.example:8443/", true), ("https:\\\\api.example:8443/", true),
      ("https://api.example:8443.other/", true), ("https://api.example:8443\\other/", true), ("https://", true),
    ])
  func redirects(location: String, isElsewhere: Bool) throws {
    let text = [location, "/"].map { "HTTP/1.1 302 Found\r\nLocation: \($0)\r\n\r\n" }.joined() + Self.refused
    let dump = try #require(HeaderDump(Array(text.utf8), from: Self.origins))
    #expect(dump.hasLeftOrigin == isElsewhere)
    #expect(dump.asksForNewToken() == !isElsewhere)
    #expect(dump.hasUnauthorized == !isElsewhere)
  }

  @Test("a 401 counts that came before a redirect to elsewhere, and where no redirect was followed")
  func unauthorizedBefore() throws {
    let away = "HTTP/1.1 302 Found\r\nLocation: https://other/\r\n\r\n"
    let before = try #require(HeaderDump(Array((Self.refused + away + "HTTP/2 200\r\n\r\n").utf8), from: Self.origins))
    #expect(before.hasUnauthorized && before.hasLeftOrigin && before.status == 200)
    let notFollowed = try #require(HeaderDump(Array(away.utf8), from: Self.origins))
    #expect(!notFollowed.hasLeftOrigin && !notFollowed.hasUnauthorized)
    let created = "HTTP/1.1 201 Created\r\nLocation: https://other/\r\n\r\n" + Self.refused
    #expect(HeaderDump(Array(created.utf8), from: Self.origins)?.hasUnauthorized == true)
  }

  @Test("a dump beyond the bound is not read")
  func tooLong() {
    let padding = [UInt8](repeating: UInt8(ascii: "x"), count: HeaderDump.limit)
    #expect(HeaderDump(Array(Self.refused.utf8) + padding) == nil)
  }
}

@Suite("A token for other programs")
struct AuthorizationHeaderTests {
  @Test("is one header field, quoted for curl")
  func writes() throws {
    #expect(try AuthorizationHeader.field(tokenType: "Bearer", token: "a.b~+/=!|") == "Authorization: Bearer a.b~+/=!|")
    #expect(
      try AuthorizationHeader.curlConfig(tokenType: "Bearer", token: #"a"b\c"#)
        == #"header = "Authorization: Bearer a\"b\\c""# + "\n")
  }

  @Test(
    "is not written when it would end the field",
    arguments: ["", "a b", "a\r\nX: y", "a\nb", "a\rb", "a\u{0}b", "a\tb", "\u{7F}", "\u{E9}", "a\u{2028}"])
  func refuses(token: String) {
    #expect(throws: HelperFormatError.self) { try AuthorizationHeader.field(tokenType: "Bearer", token: token) }
    #expect(throws: HelperFormatError.self) { try AuthorizationHeader.curlConfig(tokenType: "Bearer", token: token) }
  }

  @Test("nor with a type that is none", arguments: ["", "Bearer x", "Bearer\n", "B\"", "\u{E9}"])
  func refusesType(type: String) {
    #expect(throws: HelperFormatError.self) { try AuthorizationHeader.field(tokenType: type, token: "t") }
  }
}
