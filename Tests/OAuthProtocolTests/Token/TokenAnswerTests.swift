import OAuthProtocol
import Sealing
import Testing

private let form = [HTTPField("content-type", "application/x-www-form-urlencoded; charset=utf-8")]
private let html = [HTTPField("Content-Type", "text/html")]
private let good = #""access_token":"at","token_type":"Bearer""#

@Suite struct TokenAnswerTests {
  @Test("a plain answer is a grant")
  func plain() throws {
    let judgement = judge(
      200,
      #"{"access_token":"at-1","token_type":"Bearer","expires_in":3600,"refresh_token":"rt-1","scope":"a b","id_token":"x.y.z","example":{"a":[1]}}"#,
      [HTTPField("Date", "Sun, 06 Nov 1994 08:49:37 GMT")])
    let grant = try #require(judgement.verdict.grant)
    #expect(grant.accessToken == Secret("at-1"))
    #expect(grant.lifetime == .seconds(3_600))
    #expect(grant.refreshToken == Secret("rt-1"))
    #expect(judgement.salvagedRefreshToken == Secret("rt-1"))
    #expect(grant.scope == ["a", "b"])
    #expect(grant.idToken == Secret("x.y.z"))
    #expect(judgement.serverDateSeconds == 784_111_777)
  }

  @Test("a scope that repeats a token of the same answer is left out")
  func repeatedToken() throws {
    let tokens = #""access_token":"at-9f8e7d6c5b4a","refresh_token":"rt-1a2b3c4d5e6f","token_type":"Bearer""#
    let judgement = judge(200, #"{\#(tokens),"scope":"read rt-1a2b3c4d5e6f x:9f8e7d6c write rt1a2b 3c4d5e 6f"}"#)
    #expect(try #require(judgement.verdict.grant).scope == ["read", "write"], "in several words, too")
  }

  @Test(
    "an answer with status 200 is judged by its body",
    arguments: [
      ("{\(good)}", "granted"), ("\u{FEFF}{\(good)}", "granted"), ("\n {\(good)}\n", "granted"),
      (#"{"access_token":"at"}"#, "granted"), (#"{"access_token":"at","token_type":null}"#, "granted"),
      (#"{"access_token":"at","token_type":"bearer"}"#, "granted"),
      (#"{"access_token":"at","token_type":"BEARER"}"#, "granted"),
      (#"{"access_token":"at!|~","token_type":"Bearer","error":null}"#, "granted"),
      (#"{"access_token":"at","token_type":"Bearer","error":""}"#, "granted"),
      (#"{"access_token":"at","token_type":"Bearer","scope":7,"id_token":false}"#, "granted"),
      (#"{"access_token":"at","token_type":"DPoP"}"#, "unusable type"),
      (#"{"access_token":"at","token_type":"mac"}"#, "unusable type"),
      (#"{"access_token":"at","token_type":"Bearer "}"#, "unusable type"),
      (#"{"access_token":"at","token_type":""}"#, "unusable type"),
      (#"{"access_token":"at","token_type":1}"#, "unusable type"),
      (#"{"token_type":"Bearer"}"#, "unusable no token"), ("{}", "unusable no token"),
      (#"{"access_token":null}"#, "unusable no token"),
      (#"{"access_token":""}"#, "unusable bad token"), (#"{"access_token":7}"#, "unusable bad token"),
      (#"{"access_token":["at"]}"#, "unusable bad token"), (#"{"access_token":{"t":"at"}}"#, "unusable bad token"),
      (#"{"access_token":"a b"}"#, "unusable bad token"), (#"{"access_token":"a\nb"}"#, "unusable bad token"),
      (#"{"access_token":"a\r\nX-Evil: 1"}"#, "unusable bad token"),
      (#"{"access_token":"a\u0000"}"#, "unusable bad token"),
      (#"{"access_token":"é"}"#, "unusable bad token"), (#"{"access_token":"a\u007f"}"#, "unusable bad token"),
      (#"{"access_token":"a","access_token":"b"}"#, "unusable duplicate access_token"),
      (#"{"access_token":"a","refresh_token":"x","refresh_token":"y"}"#, "unusable duplicate refresh_token"),
      (#"{"access_token":"a","expires_in":1,"expires_in":99999}"#, "unusable duplicate expires_in"),
      (#"{"error":"invalid_grant"}"#, "refused invalid_grant"),
      (#"{"error":"bad_verification_code","error_description":"x"}"#, "refused bad_verification_code"),
      (#"{"ok":false,"error":"invalid_refresh_token"}"#, "refused invalid_refresh_token"),
      (#"{"error":"temporarily_unavailable"}"#, "unusable transient temporarily_unavailable"),
      (#"{"error":"invalid_grant","access_token":"at"}"#, "unusable contradictory"),
      (#"{"error":"invalid_grant","refresh_token":"rt"}"#, "unusable contradictory"),
      (#"{"error":7}"#, "unusable no token"), (#"{"error":{"code":1}}"#, "unusable no token"),
      ("", "unusable empty"), (" \n", "unusable empty"), ("<html><body>Sign in</body></html>", "unusable html"),
      ("  <!DOCTYPE html>", "unusable html"), ("[]", "unusable malformed"), ("\"at\"", "unusable malformed"),
      ("OK", "unusable malformed"), ("null", "unusable malformed"), ("{\(good)", "unusable malformed"),
      ("{\(good),\"x\":NaN}", "unusable malformed"), ("{\(good)}trailing", "unusable malformed"),
      ("{\(good),\"x\":" + String(repeating: "[", count: 50_000), "unusable malformed"),
      (#"{"error":"invalid_grant""#, "unusable malformed"),
    ])
  func ok(body: String, expected: String) {
    #expect(judge(200, body).verdict.label == expected)
  }

  @Test(
    "the length of an access token is bounded",
    arguments: [(32_768, "granted"), (32_769, "unusable bad token")])
  func length(count: Int, expected: String) {
    let body = "{\"access_token\":\"\(String(repeating: "a", count: count))\"}"
    #expect(judge(200, body).verdict.label == expected)
  }

  @Test("a body beyond the limit is not read")
  func tooLarge() {
    let body = "{\(good),\"x\":\"\(String(repeating: "y", count: HTTPLimits.bodyBytes))\"}"
    #expect(judge(200, body).verdict.label == "unusable large")
  }

  @Test(
    "only 200, 400, 401 and 403 with a parsed body and a string error decide",
    arguments: [
      (400, #"{"error":"invalid_grant"}"#, "refused invalid_grant"),
      (401, #"{"error":"invalid_client"}"#, "refused invalid_client"),
      (403, #"{"error":"invalid_code"}"#, "refused invalid_code"),
      (400, #"{"error":"unauthorized_client"}"#, "refused unauthorized_client"),
      (400, #"{"error":"invalid_scope"}"#, "refused invalid_scope"),
      (400, #"{"error":"x_unknown"}"#, "refused x_unknown"),
      (400, #"{"error":"temporarily_unavailable"}"#, "unusable transient temporarily_unavailable"),
      (400, #"{"error":"server_error"}"#, "unusable transient server_error"),
      (404, #"{"error":"invalid_grant"}"#, "unusable 404"), (405, #"{"error":"invalid_grant"}"#, "unusable 405"),
      (407, #"{"error":"invalid_grant"}"#, "unusable 407"), (408, #"{"error":"invalid_grant"}"#, "unusable 408"),
      (422, #"{"error":"invalid_grant"}"#, "unusable 422"), (429, #"{"error":"invalid_grant"}"#, "unusable 429"),
      (500, #"{"error":"invalid_grant"}"#, "unusable 500"), (502, "<html>", "unusable 502"),
      (503, #"{"error":"invalid_grant"}"#, "unusable 503"), (504, "", "unusable 504"), (599, "{}", "unusable 599"),
      (204, "", "unusable 204"), (202, "{\(good)}", "unusable 202"), (201, "{\(good)}", "granted"),
      (100, "", "unusable 100"), (0, "", "unusable 0"), (999, #"{"error":"invalid_grant"}"#, "unusable 999"),
      (301, "", "unusable redirect"), (302, "{\(good)}", "unusable redirect"),
      (307, #"{"error":"invalid_grant"}"#, "unusable redirect"),
      (400, "", "no reason"), (401, "", "no reason"), (403, " ", "no reason"), (400, "{}", "no reason"),
      (400, "nope", "no reason"), (400, #"{"error":null}"#, "no reason"), (400, #"{"error":7}"#, "no reason"),
      (400, #"{"error":["invalid_grant"]}"#, "no reason"), (400, #"{"error":{"code":"invalid_grant"}}"#, "no reason"),
      (400, #"{"error":""}"#, "no reason"), (400, #"{"error":"invalid_grant\u001b"}"#, "no reason"),
      (400, #"{"error":"a","error":"b"}"#, "no reason"), (400, #"{"error":"invalid_grant""#, "no reason"),
      (400, "{\"error\":\"" + String(repeating: "x", count: 129) + "\"}", "no reason"),
      (400, #"{"message":"bad"}"#, "no reason"), (403, "<html>blocked</html>", "unusable html"),
      (400, #"{"access_token":"at","token_type":"Bearer"}"#, "no reason"),
    ])
  func statuses(status: Int, body: String, expected: String) {
    #expect(judge(status, body).verdict.label == expected)
  }

  @Test(
    "an error code means one of four things",
    arguments: [
      ("invalid_grant", .grantRefused), ("bad_refresh_token", .grantRefused), ("invalid_code", .grantRefused),
      ("invalid_client", .clientRefused), ("unauthorized_client", .clientRefused),
      ("incorrect_client_credentials", .clientRefused), ("temporarily_unavailable", .transient),
      ("slow_down", .transient), ("invalid_scope", .requestRefused), ("invalid_target", .requestRefused),
      ("access_denied", .requestRefused), ("INVALID_GRANT", .requestRefused), ("anything", .requestRefused),
    ] as [(String, OAuthError.Meaning)])
  func meanings(code: String, expected: OAuthError.Meaning) throws {
    #expect(try #require(OAuthError(code: code)).meaning == expected)
  }

  @Test(
    "expires_in of every odd kind is seconds or to be learned",
    arguments: [
      ("3600", .seconds(3_600)), ("\"3600\"", .seconds(3_600)), ("\" 3600 \"", .seconds(3_600)),
      ("3600.9", .seconds(3_600)), ("\"3600.0\"", .seconds(3_600)), ("3.6e3", .seconds(3_600)), ("1", .seconds(1)),
      ("0.5", .unknown(.notPositive)), ("0", .unknown(.notPositive)), ("-1", .unknown(.notPositive)),
      ("-1e999", .unknown(.notPositive)), ("\"0\"", .unknown(.notPositive)), ("-0", .unknown(.notPositive)),
      ("99999999999999999999999", .seconds(TokenLifetime.limitSeconds)),
      ("1e999", .seconds(TokenLifetime.limitSeconds)),
      ("9223372036854775808", .seconds(TokenLifetime.limitSeconds)),
      ("1" + String(repeating: "0", count: 2_000), .seconds(TokenLifetime.limitSeconds)),
      ("null", .unknown(.missing)), ("true", .unknown(.notANumber)), ("false", .unknown(.notANumber)),
      ("\"\"", .unknown(.notANumber)), ("\"never\"", .unknown(.notANumber)), ("\"nan\"", .unknown(.notANumber)),
      ("\"inf\"", .unknown(.notANumber)), ("\"0x10\"", .unknown(.notANumber)), ("\"1h\"", .unknown(.notANumber)),
      ("\"3600s\"", .unknown(.notANumber)), ("\"1,000\"", .unknown(.notANumber)), ("[3600]", .unknown(.notANumber)),
      ("{\"s\":1}", .unknown(.notANumber)),
    ] as [(String, TokenLifetime)])
  func lifetimes(value: String, expected: TokenLifetime) throws {
    let grant = try #require(judge(200, "{\(good),\"expires_in\":\(value)}").verdict.grant)
    #expect(grant.lifetime == expected)
  }

  @Test("without expires_in the lifetime is to be learned")
  func noLifetime() throws {
    #expect(try #require(judge(200, "{\(good)}").verdict.grant).lifetime == .unknown(.missing))
  }

  @Test(
    "scope is read as servers write it",
    arguments: [
      ("\"a b\"", ["a", "b"]), ("\"a,b\"", ["a", "b"]), ("\"a, b, c\"", ["a", "b", "c"]), ("\"a  b \"", ["a", "b"]),
      ("\"repo\"", ["repo"]), ("\"a b a\"", ["a", "b"]), ("\"https://h/x,y b\"", ["https://h/x,y", "b"]),
      ("[\"a\",\"b\"]", ["a", "b"]), ("[\"a\",7,\"b c\",null]", ["a"]), ("\"\"", nil), ("\" \"", nil), ("null", nil),
      ("7", nil), ("[]", nil), ("\"a\\nb\"", nil), ("\"ok \\u001b[2J é\"", ["ok"]),
    ] as [(String, [String]?)])
  func scopes(value: String, expected: [String]?) throws {
    #expect(try #require(judge(200, "{\(good),\"scope\":\(value)}").verdict.grant).scope == expected)
  }

  @Test("a server that says scopes for scope is understood, and a flood of scopes is cut")
  func oddScopes() throws {
    #expect(try #require(judge(200, "{\(good),\"scopes\":\"a b\"}").verdict.grant).scope == ["a", "b"])
    let flood = (0..<1_000).map(String.init).joined(separator: " ")
    #expect(try #require(judge(200, "{\(good),\"scope\":\"\(flood)\"}").verdict.grant).scope?.count == 256)
  }

  @Test(
    "the life of the refresh token is taken where it is told",
    arguments: [
      (#""refresh_token_expires_in":15811200"#, 15_811_200), (#""refresh_expires_in":"1800""#, 1_800),
      (#""refresh_expires_in":0"#, nil), (#""refresh_token_expires_in":null,"refresh_expires_in":5"#, 5),
    ] as [(String, Int?)])
  func refreshLifetime(member: String, expected: Int?) throws {
    let grant = try #require(judge(200, "{\(good),\"refresh_token\":\"r\",\(member)}").verdict.grant)
    #expect(grant.refreshTokenLifetimeSeconds == expected)
  }

  @Test(
    "form data is understood (GitHub without Accept)",
    arguments: [
      (200, "access_token=gho_x&scope=repo%2Cgist&token_type=bearer", "granted"),
      (200, "access_token=gho_x&expires_in=28800&refresh_token=ghr_y\n", "granted"),
      (200, "error=bad_verification_code&error_description=The+code+passed", "refused bad_verification_code"),
      (400, "error=invalid_grant", "refused invalid_grant"),
      (200, "access_token=a&access_token=b", "unusable duplicate access_token"),
      (200, "access_token=%0A", "unusable bad token"), (200, "access_token=%", "unusable malformed"),
      (200, "hello=world", "unusable malformed"), (400, "hello=world", "no reason"),
    ])
  func formData(status: Int, body: String, expected: String) {
    #expect(judge(status, body, form).verdict.label == expected)
  }

  @Test("form values arrive decoded")
  func formValues() throws {
    let grant = try #require(
      judge(200, "access_token=a%2Bb&scope=repo%2Cgist&token_type=bearer&expires_in=28800", form).verdict.grant)
    #expect(grant.accessToken == Secret("a+b"))
    #expect(grant.scope == ["repo", "gist"])
    #expect(grant.lifetime == .seconds(28_800))
  }

  @Test("JSON with a wrong Content-Type is JSON, form data that claims to be JSON is not")
  func contentTypes() {
    #expect(judge(200, "{\(good)}", html).verdict.label == "granted")
    #expect(judge(200, "{\(good)}", []).verdict.label == "granted")
    #expect(judge(200, "access_token=a").verdict.label == "unusable malformed")
  }

  @Test(
    "an answer that decides nothing tells how long to wait",
    arguments: [(429, "120", 120), (503, "99999", 3_600), (500, "soon", nil), (302, "5", 5), (400, "5", nil)]
      as [(Int, String, Int?)])
  func retryAfter(status: Int, value: String, expected: Int?) {
    #expect(judge(status, "", [HTTPField("Retry-After", value)]).verdict.retryAfterSeconds == expected)
  }

  @Test("sentences hold what the server said, escaped, and no secret")
  func sentences() {
    let verdict = judge(400, #"{"error":"invalid_grant","error_description":"gone \u001b[31m\u202e"}"#).verdict
    #expect("\(verdict)" == "The server refused the grant: invalid_grant (gone \\u{1b}[31m\\u{202e}).")
    let redirect = judge(302, "", [HTTPField("Location", "https://x/\u{1B}")]).verdict
    #expect("\(redirect)".contains("https://x/\\u{1b}"))
    for body in [
      #"{"access_token":"SECRET","refresh_token":"SECRET"}"#, #"{"access_token":"SECRET","token_type":"mac"}"#,
      #"{"access_token":"SEC RET","refresh_token":"SECRET"}"#, #"{"error":"x","access_token":"SECRET"}"#,
    ] {
      var text = ""
      dump(judge(200, body), to: &text)
      #expect(!("\(judge(200, body).verdict)" + text).contains("SECRET"))
    }
  }
}
