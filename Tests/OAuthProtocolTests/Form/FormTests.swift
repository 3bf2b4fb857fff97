import OAuthProtocol
import Sealing
import Testing

@Suite struct FormTests {
  @Test(
    "values are encoded so that every decoder reads them back",
    arguments: [
      ("abcXYZ019-._~", "abcXYZ019-._~"), ("a b", "a%20b"), ("a+b", "a%2Bb"), ("a&b=c", "a%26b%3Dc"), ("%", "%25"),
      ("é", "%C3%A9"), ("*!'()", "%2A%21%27%28%29"), ("\r\n\0", "%0D%0A%00"), ("", ""), ("/?:@", "%2F%3F%3A%40"),
    ])
  func encodes(value: String, expected: String) throws {
    var parameters = FormParameters()
    parameters.append("n", value)
    parameters.append("s", Secret(value))
    #expect(parameters.encodedQuery() == "n=\(expected)&s=\(expected)")
    let body = parameters.encodedBody()
    let fields = try body.withBytes { try FormFields(decoding: $0) }
    #expect(fields.members.map { $0.value.reveal() } == [value, value])
  }

  @Test(
    "form data is decoded",
    arguments: [
      ("a=1&b=2", ["a=1", "b=2"]), ("a=x+y%20z", ["a=x y z"]), ("a", ["a="]), ("a=", ["a="]), ("=b", ["=b"]),
      ("a=b=c", ["a=b=c"]), ("&&a=1&&", ["a=1"]), ("", []), ("a%3D=%26", ["a==&"]), ("a=%c3%A9", ["a=é"]),
      ("a=1&a=2", ["a=1", "a=2"]),
    ] as [(String, [String])])
  func decodes(text: String, expected: [String]) throws {
    #expect(try FormFields(decoding: text.utf8).members.map { "\($0.name)=\($0.value.reveal())" } == expected)
  }

  @Test(
    "malformed form data is refused",
    arguments: ["a=%", "a=%1", "a=%zz", "a=b c", "a=b\n", "a=é", "a=\u{7F}", "%FF=1", "%ed%a0%80=1"])
  func refuses(text: String) {
    #expect(throws: ProtocolError.self) { try FormFields(decoding: text.utf8) }
  }

  @Test("more parameters than the limit are refused")
  func limits() throws {
    let text = String(repeating: "a=1&", count: 64)
    #expect(try FormFields(decoding: text.utf8).names.count == 64)
    #expect(throws: ProtocolError.self) { try FormFields(decoding: (text + "b=1").utf8) }
  }

  @Test("a parameter that may appear once is refused when it appears twice, equal or not")
  func duplicates() throws {
    let fields = try FormFields(decoding: "a=1&b=2&%61=1".utf8)
    #expect(throws: ProtocolError.duplicateParameter("a")) { try fields.only("a") }
    #expect(try fields.only("b")?.reveal() == "2")
    #expect(try fields.only("c") == nil)
  }

  @Test("what is not a scope token or an absolute URI is refused before it is sent")
  func requestedAccess() throws {
    try RequestedAccess.checkScope(["openid", "https://h/scope.read", "a:b/c"])
    for scope in ["", "a b", "a\"", "a\\", "é", "a\n"] {
      #expect(throws: ProtocolError.self, "\(scope)") { try RequestedAccess.checkScope(["ok", scope]) }
    }
    try RequestedAccess.checkResources(["https://h/api", "urn:x:y", "https://h/api?x=1"])
    for resource in ["", "api", "/api", "https://h/#f", "ht tp://h", "1a:b", "https://h/é", ":x"] {
      #expect(throws: ProtocolError.self, "\(resource)") { try RequestedAccess.checkResources([resource]) }
    }
  }
}
