import HTTPTerms
import OAuthProtocol
import Sealing
import Testing

@Suite("Client assertions")
struct ClientAssertionTests {
  private func parts(_ assertion: ClientAssertion, keyID: String? = nil) throws -> [String] {
    let text = try assertion.signed(algorithm: "ES256", keyID: keyID) { input in Array(input.suffix(3)) }.reveal()
    return try text.split(separator: ".", omittingEmptySubsequences: false).map {
      String(decoding: try #require(Base64URL.decode(String($0))), as: UTF8.self)
    }
  }

  @Test("it says who, to whom, and for a minute (RFC 7523 §3), and what is signed is what is sent")
  func claims() throws {
    let assertion = ClientAssertion(
      issuer: "app", subject: "app", audience: "https://as.example", issuedAt: 1_000, id: "one")
    let found = try parts(assertion, keyID: "mine")
    #expect(found[0] == #"{"alg":"ES256","kid":"mine","typ":"JWT"}"#)
    #expect(
      found[1] == #"{"aud":"https://as.example","exp":1060,"iat":1000,"iss":"app","jti":"one","sub":"app"}"#)
    // The end of the signing input.
    #expect(Base64URL.encode(Array(found[1].utf8)).hasSuffix(found[2]))
    #expect(try parts(assertion)[0] == #"{"alg":"ES256","typ":"JWT"}"#)
  }

  @Test("what a client id holds ends no text of the JSON")
  func escapes() throws {
    let assertion = ClientAssertion(
      issuer: #"a","aud":"evil"#, subject: "a\\", audience: "https://as.example", issuedAt: 1, id: "one")
    let claims = try parts(assertion)[1]
    #expect(claims.contains(#""iss":"a\",\"aud\":\"evil""#) && claims.contains(#""sub":"a\\""#))
  }

  @Test("in a request it stands with its type and the client's id, and no secret beside it (RFC 7521 §4.2)")
  func request() throws {
    let client = try OAuthClient(id: "app", authentication: .assertion(Secret("a.b.c")))
    let request = try TokenRequest(endpoint: WebURL("https://h/t"), client: client, grant: .clientCredentials)
      .httpRequest()
    #expect(request.credentials == nil)
    #expect(
      try lines(request) == [
        "grant_type=client_credentials", "client_id=app",
        "client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer", "client_assertion=a.b.c",
      ])
  }
}
