import OAuthProtocol
import Testing

@Suite struct BearerChallengeTests {
  @Test(
    "challenges are told apart (RFC 9110 §11.6.1)",
    arguments: [
      (["Bearer"], ["bearer"]), (["Basic realm=\"x\""], ["basic realm=x"]),
      (["Bearer realm=\"a\", error=\"invalid_token\""], ["bearer realm=a error=invalid_token"]),
      (["Basic realm=\"a\", Bearer realm=\"b\""], ["basic realm=a", "bearer realm=b"]),
      (["Basic realm=\"a\"", "Bearer realm=\"b\""], ["basic realm=a", "bearer realm=b"]),
      (
        ["Basic realm=\"a, Bearer error=\\\"x\\\"\", Bearer error=\"invalid_token\""],
        ["basic realm=a, Bearer error=\"x\"", "bearer error=invalid_token"]
      ),
      (["Negotiate, Bearer error=invalid_token"], ["negotiate", "bearer error=invalid_token"]),
      (["Negotiate YII=, Bearer"], ["negotiate [YII=]", "bearer"]),
      (["Negotiate a+b/c==, Basic x=y"], ["negotiate [a+b/c==]", "basic x=y"]),
      (["BEARER REALM=\"x\""], ["bearer realm=x"]),
      (["Bearer  realm = \"x\" ,\terror\t=\"y\""], ["bearer realm=x error=y"]),
      ([", ,Bearer realm=x,, error=y,"], ["bearer realm=x error=y"]),
      (["Digest a=1, b=2, Bearer c=3, d=4, Basic e=5"], ["digest a=1 b=2", "bearer c=3 d=4", "basic e=5"]),
      (["Bearer, Basic"], ["bearer", "basic"]), (["Bearer error=\"\""], ["bearer error="]),
      (["Bearer error=\"a\\\\b\\\"c\""], ["bearer error=a\\b\"c"]),
      (["Bearer resource_metadata=https://h/x?y=z"], ["bearer resource_metadata=https://h/x?y=z"]),
      (["Bearer error=\"unterminated"], ["bearer"]), (["Bearer error=\"x\\"], ["bearer"]),
      (["Bearer a=\"1\" b=\"2\""], ["bearer a=1"]), ([""], []), ([" , "], []), (["=x"], []), (["\"Bearer\""], []),
      (["Bearer=\"x\""], []), (["Bearer a="], ["bearer [a=]"]), (["Bearer a==="], ["bearer [a===]"]),
      (["Bearer {}", "Basic a=b"], ["bearer", "basic a=b"]), (["é", "Bearer"], ["bearer"]),
      ([String(repeating: "x", count: 20_000), "Bearer"], ["bearer"]),
    ] as [([String], [String])])
  func parses(fields: [String], expected: [String]) {
    let found = AuthenticationChallenge.parse(fields).map { challenge in
      ([challenge.scheme] + (challenge.token68.map { ["[\($0)]"] } ?? [])
        + challenge.parameters.map { "\($0.name)=\($0.value)" }).joined(separator: " ")
    }
    #expect(found == expected)
  }

  @Test("floods are cut")
  func floods() {
    #expect(AuthenticationChallenge.parse([String](repeating: "A, B, C, D, E", count: 100)).count <= 32 + 4)
    let many = "Bearer " + (0..<500).map { "a\($0)=1" }.joined(separator: ", ")
    #expect(AuthenticationChallenge.parse([many]).allSatisfy { $0.parameters.count <= 32 })
  }

  @Test(
    "the Bearer challenge says what helps (RFC 6750 §3.1)",
    arguments: [
      (["Bearer error=\"invalid_token\""], .refresh), (["Bearer realm=\"x\""], .sendToken),
      (["Bearer error=\"insufficient_scope\", scope=\"a b\""], .insufficientScope),
      (["Bearer error=\"invalid_request\""], .nothing), (["Bearer error=\"INVALID_TOKEN\""], .nothing),
      (["Bearer realm=\"x\"", "Bearer error=\"invalid_token\""], .refresh),
      (["Basic realm=\"x\", Bearer error=\"invalid_token\""], .refresh), (["Basic realm=\"x\""], nil), ([], nil),
    ] as [([String], BearerChallenge.Advice?)])
  func advice(fields: [String], expected: BearerChallenge.Advice?) {
    #expect(BearerChallenge.find(in: fields)?.advice == expected)
  }

  @Test("all members are read, and shown escaped")
  func members() throws {
    let field =
      "Bearer realm=\"r\", error=\"insufficient_scope\", error_description=\"no \u{1B}[2J\", scope=\"repo write\", "
      + "resource_metadata=\"https://h/.well-known/oauth-protected-resource\""
    let challenge = try #require(BearerChallenge.find(in: [field]))
    #expect(challenge.realm == "r")
    #expect(challenge.scope == ["repo", "write"])
    #expect(challenge.resourceMetadata == "https://h/.well-known/oauth-protected-resource")
    #expect("\(challenge)" == "The token lacks scope: repo write. It says: no \\u{1b}[2J.")
  }
}
