import HTTPTerms
import OAuthProtocol
import Sealing
import Testing

@Suite struct RevocationTests {
  @Test("the request names the token and its kind (RFC 7009 §2.1)")
  func request() throws {
    let request = RevocationRequest(
      endpoint: try WebURL("https://as.example/revoke"),
      client: try OAuthClient(id: "app", authentication: .basic(Secret("s"))), token: Secret("r+1"), hint: .refreshToken
    )
    #expect(try lines(request.httpRequest()) == ["token=r+1", "token_type_hint=refresh_token"])
    #expect(request.httpRequest().credentials == Secret("Basic YXBwOnM="))
  }

  @Test(
    "answers are judged by status and error (RFC 7009 §2.2)",
    arguments: [
      (200, "", .done), (200, "<html>", .done), (204, "", .done),
      (503, "", .later(status: 503, retryAfterSeconds: 30)), (429, "", .later(status: 429, retryAfterSeconds: 30)),
      (500, #"{"error":"invalid_client"}"#, .later(status: 500, retryAfterSeconds: 30)),
      (400, #"{"error":"temporarily_unavailable"}"#, .later(status: 400, retryAfterSeconds: 30)),
      (400, #"{"error":"unsupported_token_type"}"#, .unsupportedTokenType), (400, #"{"error":"invalid_token"}"#, .done),
      (400, "", .refusedWithoutReason(status: 400)), (401, "", .refusedWithoutReason(status: 401)),
      (404, #"{"error":"invalid_token"}"#, .refusedWithoutReason(status: 404)),
      (302, "", .refusedWithoutReason(status: 302)), (405, "", .refusedWithoutReason(status: 405)),
      (400, #"{"error":"invalid_token""#, .refusedWithoutReason(status: 400)),
    ] as [(Int, String, RevocationVerdict)])
  func verdicts(status: Int, body: String, expected: RevocationVerdict) {
    let verdict = RevocationVerdict(judging: answer(status, body, [HTTPField("Retry-After", "30")]), now: 0)
    #expect(verdict == expected)
  }

  @Test("a refused client is told")
  func refused() throws {
    let verdict = RevocationVerdict(judging: answer(401, #"{"error":"invalid_client"}"#), now: 0)
    #expect(verdict == .refused(try #require(OAuthError(code: "invalid_client"))))
    #expect("\(verdict)" == "The server refused to revoke the token: invalid_client.")
  }
}
