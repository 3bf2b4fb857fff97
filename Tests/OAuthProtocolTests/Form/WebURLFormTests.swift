import HTTPTerms
import OAuthProtocol
import Testing

@Suite struct WebURLFormTests {
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

  @Test("a URL that is refused is told in words that a terminal can show")
  func refusal() {
    #expect(throws: ProtocolError.url(shown: "https://h/\\u{1b}", .forbiddenCharacter)) {
      try WebURL.read("https://h/\u{1B}")
    }
  }
}
