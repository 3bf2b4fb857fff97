import HTTPTerms
import HelperFormats
import Testing

@Suite("What a 403 says that a token's scope lacks")
struct NeededScopeTests {
  private func needed(_ field: String, status: Int = 403, from origin: String = "https://api.example") throws
    -> [String]?
  {
    let text = "HTTP/1.1 \(status) X\r\nWWW-Authenticate: \(field)\r\n\r\n"
    return HeaderDump(Array(text.utf8), from: [try Origin(of: origin)])?.neededScope
  }

  @Test("insufficient_scope of Bearer and DPoP names the scopes")
  func named() throws {
    #expect(try needed(#"Bearer error="insufficient_scope", scope="a b a""#) == ["a", "b"])
    #expect(try needed(#"Basic realm="x, y", DPoP error="insufficient_scope", scope="c""#) == ["c"])
    #expect(try needed(#"Bearer error="insufficient_scope""#) == [])
  }

  @Test("another status, error or scheme says nothing of scopes")
  func silent() throws {
    #expect(try needed(#"Bearer error="insufficient_scope", scope="a""#, status: 401) == nil)
    #expect(try needed(#"Bearer error="invalid_token", scope="a""#) == nil)
    #expect(try needed(#"Bearer scope="a""#) == nil)
    #expect(try needed(#"Basic error="insufficient_scope", scope="a""#) == nil)
  }

  @Test("a host behind a redirect that leads away has no say")
  func redirected() throws {
    let text =
      "HTTP/1.1 302 X\r\nLocation: https://other.example/\r\n\r\nHTTP/1.1 403 X\r\n"
      + "WWW-Authenticate: Bearer error=\"insufficient_scope\", scope=\"a\"\r\n\r\n"
    #expect(HeaderDump(Array(text.utf8), from: [try Origin(of: "https://api.example")])?.neededScope == nil)
  }

  @Test("crowds, long ones and what is no scope are left out")
  func bounds() throws {
    let crowd = (0..<100).map { "s\($0)" }.joined(separator: " ")
    #expect(try needed("Bearer error=\"insufficient_scope\", scope=\"\(crowd)\"")?.count == 32)
    let long = String(repeating: "x", count: 257)
    #expect(try needed("Bearer error=\"insufficient_scope\", scope=\"\(long) a\"") == ["a"])
    #expect(try needed("Bearer error=\"insufficient_scope\", scope=\"a\\\\b é c\"") == ["c"])
  }
}
