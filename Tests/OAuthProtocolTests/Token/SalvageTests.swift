import OAuthProtocol
import Sealing
import Testing

/// A refresh token in any 2xx answer may be the only living one: it is found before anything else is judged.
@Suite struct SalvageTests {
  @Test(
    "whatever is wrong with the answer, its refresh token is found",
    arguments: [
      #"{"access_token":"a","refresh_token":"R"}"#,
      #"{"refresh_token":"R"}"#,
      #"{"access_token":"a b","refresh_token":"R"}"#,
      #"{"access_token":"a","token_type":"DPoP","refresh_token":"R"}"#,
      #"{"access_token":null,"expires_in":"x","refresh_token":"R"}"#,
      #"{"error":"invalid_grant","refresh_token":"R"}"#,
      #"{"refresh_token":"R","access_token":"cut o"#,
      #"{"refresh_token":"R""#,
      #"{"refresh_token":"R","x":NaN}"#,
      #"{"expires_in":NaN,"refresh_token":"R"}"#,
      #"{'a':1,"refresh_token" : "R"}"#,
      #"{"a":1,,"refresh_token":"R","b"#,
      #"{"refresh_token":"R"} trailing <html>"#,
      #"{"refresh_token":"old","refresh_token":"R"}"#,
      #"{"refresh_token":"\u0052"}"#,
      "{\"x\":" + String(repeating: "[", count: 100) + "\"refresh_token\":\"R\"",
    ])
  func found(body: String) {
    #expect(judge(200, body).salvagedRefreshToken == Secret("R"))
  }

  @Test("it is found in every 2xx answer and in form data", arguments: [200, 201, 202, 206, 299])
  func statuses(status: Int) {
    #expect(judge(status, #"{"refresh_token":"R"}"#).salvagedRefreshToken == Secret("R"))
    let form = [HTTPField("Content-Type", "application/x-www-form-urlencoded")]
    #expect(judge(status, "access_token=%0A&refresh_token=R", form).salvagedRefreshToken == Secret("R"))
  }

  @Test(
    "what cannot be a refresh token is not kept for one",
    arguments: [
      "{}", "", "R", #"{"refresh_token":null}"#, #"{"refresh_token":""}"#, #"{"refresh_token":true}"#,
      #"{"refresh_token":["R"]}"#, #"{"refresh_token":"cut"#,
      #"{"refresh_token":"cut\"#, #"{"nested":{"refresh_token":"R"}}"#, #"<p>{"refresh_token":"R"}</p>"#,
      "{\"refresh_token\":\"" + String(repeating: "r", count: 32_769) + "\"}",
    ])
  func notFound(body: String) {
    #expect(judge(200, body).salvagedRefreshToken == nil)
  }

  @Test(
    "what RFC 6749 does not allow in one is kept: the token before it is spent",
    arguments: [
      (#"{"refresh_token":"a\nb"}"#, "a\nb"), (#"{"refresh_token":"é\t"}"#, "é\t"), (#"{"refresh_token":7}"#, "7"),
    ])
  func otherCharacters(body: String, token: String) {
    #expect(judge(200, body).salvagedRefreshToken == Secret(token))
  }

  @Test(
    "of an answer whose connection failed, a whole object counts, and of a part the refresh token",
    arguments: [
      (#"{"access_token":"a","token_type":"Bearer"}"#, "a", nil),
      (#"{"access_token":"a","token_type":"Bearer","refresh_token":"R"}"#, "a", "R"),
      (#"{"access_token":"a","token_type":"Bearer","refresh_token":"R","scope":"re"#, nil, "R"),
    ] as [(String, String?, String?)])
  func cut(body: String, accessToken: String?, refreshToken: String?) throws {
    let judgement = try #require(judgeCut(200, body))
    #expect(judgement.salvagedRefreshToken == refreshToken.map { Secret($0) })
    let granted: TokenResponse? = if case .granted(let response) = judgement.verdict { response } else { nil }
    #expect(granted?.accessToken == accessToken.map { Secret($0) })
  }

  @Test(
    "nothing else of it counts: not what may be cut itself, no refusal, no form data",
    arguments: [
      (200, #"{"access_token":"a","token_type":"Bearer","refresh_token":"R"#),
      (200, #"{"access_token":"a","refresh_token":12"#),
      (200, #"{"access_token":"a","user":{"refresh_token":"R"},"token_type":"Bearer""#),
      (200, #"{"ok":true,"authed_user":{"access_token":"a","refresh_token":"R","token_type":"user"},"acc"#),
      (200, #"{"access_token":"a","token_type":"Bearer""#), (200, "{}"), (200, ""),
      (200, #"{"error":"invalid_grant"}"#),
      (200, "access_token=a&token_type=bearer&refresh_token=R"), (400, #"{"error":"invalid_grant"}"#),
    ])
  func cutAway(status: Int, body: String) {
    #expect(judgeCut(status, body) == nil)
  }

  private func judgeCut(_ status: Int, _ body: String) -> TokenJudgement? {
    TokenJudgement(
      judgingCut: HTTPAnswer(status: status, body: Secret(body)), to: HTTPRequest(.post, "https://a/token"), now: 0)
  }

  @Test("it is not taken from an answer that is not 2xx", arguments: [100, 302, 400, 401, 403, 404, 429, 500])
  func otherStatuses(status: Int) {
    #expect(judge(status, #"{"refresh_token":"R"}"#).salvagedRefreshToken == nil)
  }

  @Test("a refresh token that cannot be one leaves the grant usable and the old token in place")
  func unusable() throws {
    let grant = try #require(
      judge(200, #"{"access_token":"a","token_type":"Bearer","expires_in":9,"refresh_token":[7]}"#).verdict.grant)
    #expect(grant.refreshToken == nil)
  }

  @Test(
    "a refresh token that came and cannot be kept is told from none",
    arguments: [
      ("[7]", true), ("{\"a\":1}", true), ("true", true), ("false", false), ("[]", false), ("{}", false),
      ("\"" + String(repeating: "r", count: 32_769) + "\"", true),
      (String(repeating: "7", count: 512), true), ("null", false), ("\"\"", false), ("\"R\"", false),
      (String(repeating: "7", count: 511), false),
    ])
  func unusable(token: String, isUnusable: Bool) {
    let body = "{\"access_token\":\"a\",\"token_type\":\"Bearer\",\"refresh_token\":\(token)}"
    #expect(judge(200, body).hasUnusableRefreshToken == isUnusable)
    #expect(!judge(400, body).hasUnusableRefreshToken && !judge(200, "{}").hasUnusableRefreshToken)
  }

  @Test("cut off at any byte after the refresh token, it is found; before its end, it is not")
  func everyCut() {
    let whole = Array(#"{"access_token":"abc","refresh_token":"RRR","expires_in":3600,"scope":"x"}"#.utf8)
    let end = Array(#"{"access_token":"abc","refresh_token":"RRR""#.utf8).count
    for length in 0...whole.count {
      let answer = HTTPAnswer(status: 200, body: Secret(whole.prefix(length)))
      let found = TokenJudgement(judging: answer, now: 0).salvagedRefreshToken
      #expect(found == (length < end ? nil : Secret("RRR")), "\(length)")
    }
  }
}
