import DevAuthorizationServer
import OAuthProtocol
import Testing

@Suite struct MetadataTests {
  @Test(
    "Both discovery documents are found where RFC 8414 and OpenID Connect put them",
    arguments: [
      ("http://127.0.0.1:8080", "/.well-known/oauth-authorization-server", 200),
      ("http://127.0.0.1:8080", "/.well-known/openid-configuration", 200),
      ("http://127.0.0.1:8080/tenant/1", "/.well-known/oauth-authorization-server/tenant/1", 200),
      ("http://127.0.0.1:8080/tenant/1", "/tenant/1/.well-known/openid-configuration", 200),
      ("http://127.0.0.1:8080/tenant/1", "/tenant/1/.well-known/oauth-authorization-server", 404),
      ("http://127.0.0.1:8080/tenant/1", "/.well-known/openid-configuration", 404),
      ("http://127.0.0.1:8080", "/.well-known/other", 404),
    ])
  func places(issuer: String, path: String, status: Int) {
    var fixture = ServerFixture(issuer: issuer)
    let answer = fixture.get(path)
    #expect(answer.status == status)
    if status == 200 {
      #expect(answer.text.contains("\"issuer\":\"\(issuer)\""))
      #expect(answer.text.contains("\"token_endpoint\":\"\(issuer)/token\""))
      #expect(answer.headers.value("Content-Type") == "application/json")
    }
  }

  @Test("Either document can be switched off, and iss is announced only when it is sent")
  func switches() {
    var fixture = ServerFixture { options in
      options.servesOAuthMetadata = false
      options.sendsIssuer = false
    }
    #expect(fixture.get("/.well-known/oauth-authorization-server").status == 404)
    #expect(!fixture.get("/.well-known/openid-configuration").text.contains("iss_parameter"))
    #expect(Redirect(fixture.get(ServerFixture.authorizeTarget())).parameters["iss"] == nil)
  }

  @Test(
    "Answers carry the server's date, skewed on demand",
    arguments: [
      (1_700_000_000.0, 0.0, "Tue, 14 Nov 2023 22:13:20 GMT"), (951_782_400, 0, "Tue, 29 Feb 2000 00:00:00 GMT"),
      (0, 0, "Thu, 01 Jan 1970 00:00:00 GMT"), (1_735_689_599, 1, "Wed, 01 Jan 2025 00:00:00 GMT"),
    ])
  func date(now: Double, skew: Double, text: String) {
    var fixture = ServerFixture { $0.clockSkewSeconds = skew }
    fixture.now = now
    #expect(fixture.get("/.well-known/openid-configuration").headers.value("Date") == text)
  }
}
