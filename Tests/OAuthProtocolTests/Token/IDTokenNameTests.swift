import OAuthProtocol
import Sealing
import Testing

@Suite("Who an ID token says has logged in")
struct IDTokenNameTests {
  private static let request = HTTPRequest(
    .post, "https://id.example/token",
    body: Secret(Array("code=the-code-of-the-login&client_secret=top-secret-word".utf8)))

  /// What is shown after an answer with an ID token of these claims.
  private func name(_ claims: String, header: String = "e30.", signature: String = ".c2ln") throws -> String? {
    let token = header + Base64URL.encode(Array(claims.utf8)) + signature
    let answer = HTTPAnswer(
      status: 200, headers: [HTTPField("Content-Type", "application/json")],
      body: Secret(
        Array(#"{"access_token":"an-access-token","token_type":"Bearer","id_token":"\#(token)"}"#.utf8)))
    let judgement = TokenJudgement(judging: answer, to: Self.request, now: 0)
    guard case .granted(let grant) = judgement.verdict else {
      Issue.record("refused: \(judgement.verdict)")
      return nil
    }
    return IDTokenName.of(grant, to: Self.request, issuer: "https://id.example", clientID: "dev")
  }

  private static let ours = #""iss":"https://id.example","aud":"dev""#

  @Test("The name that people know themselves by comes first")
  func claims() throws {
    #expect(
      try name("{\(Self.ours),\"name\":\"Alice A\",\"email\":\"a@x\",\"preferred_username\":\"alice\"}") == "alice")
    #expect(try name("{\(Self.ours),\"name\":\"Alice A\",\"email\":\"a@x\"}") == "a@x")
    #expect(try name("{\(Self.ours),\"name\":\"Alice A\",\"email\":\"\"}") == "Alice A")
    #expect(try name("{\(Self.ours),\"sub\":\"17\"}") == nil)
    #expect(try name(#"{"iss":"https://id.example","aud":["other","dev"],"name":"Alice"}"#) == "Alice")
  }

  @Test(
    "A token of another issuer or for another client, and what is no token, says nothing",
    arguments: [
      #"{"iss":"https://evil.example","aud":"dev","name":"Alice"}"#,
      #"{"iss":"https://id.example","aud":"other","name":"Alice"}"#,
      #"{"iss":"https://id.example","aud":["other"],"name":"Alice"}"#, #"{"iss":"https://id.example","name":"Alice"}"#,
      #"{"iss":"https://id.example","aud":"dev","name":7}"#, #"{"iss":"https://id.example","aud":"dev","name":"Al"#,
      #"{"iss":"https://evil.example","iss":"https://id.example","aud":"dev","name":"Alice"}"#, "[]", "",
    ])
  func strangers(claims: String) throws { #expect(try name(claims) == nil) }

  @Test("Two parts, four, or another alphabet are no token")
  func shape() throws {
    let claims = "{\(Self.ours),\"name\":\"Alice\"}"
    #expect(try name(claims) == "Alice")
    #expect(try name(claims, signature: "") == nil)
    #expect(try name(claims, signature: ".c2ln.c2ln") == nil)
    #expect(try name(claims, header: "e30.+") == nil)
  }

  @Test("It is cut and escaped, and tells no secret of the request nor a token of the answer")
  func shown() throws {
    let long = String(repeating: "x", count: 1_000)
    #expect(try name("{\(Self.ours),\"name\":\"\(long)\"}")?.count == 100)
    #expect(try name("{\(Self.ours),\"name\":\"\(long)\(long)\"}") == nil)
    #expect(try name("{\(Self.ours),\"name\":\"a\\u001b[2J\\u202e\"}") == "a\\u{1b}[2J\\u{202e}")
    for secret in ["the-code-of-the-login", "top-secret-word", "an-access-token"] {
      let shown = try #require(try name("{\(Self.ours),\"name\":\"I am \(secret)\"}"))
      #expect(!shown.contains(secret) && shown.contains("I am"), "\(shown)")
    }
  }
}
