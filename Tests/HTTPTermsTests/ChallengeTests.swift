import HTTPTerms
import Testing

@Suite("Challenges")
struct ChallengeTests {
  private static func read(_ fields: [String]) -> [String] {
    Challenge.parse(fields).map { challenge in
      ([challenge.scheme] + challenge.parameters.map { "\($0.name)=\($0.value)" }).joined(separator: " ")
    }
  }

  @Test(
    "are read as RFC 9110 writes them",
    arguments: [
      ("", []), (" , ", []), ("Basic", ["basic"]), ("Basic realm=\"x\"", ["basic realm=x"]),
      ("Basic realm=x, Bearer", ["basic realm=x", "bearer"]), ("Bearer, Basic", ["bearer", "basic"]),
      ("Basic realm=\"a\", Bearer realm=\"b\"", ["basic realm=a", "bearer realm=b"]),
      ("Bearer realm=\"a, Basic b\", error=invalid_token", ["bearer realm=a, Basic b error=invalid_token"]),
      (
        "Basic realm=\"a, Bearer error=\\\"x\\\"\", Bearer error=\"invalid_token\"",
        ["basic realm=a, Bearer error=\"x\"", "bearer error=invalid_token"]
      ),
      ("Negotiate, Bearer error=invalid_token", ["negotiate", "bearer error=invalid_token"]),
      ("Negotiate YII=, Bearer error=\"invalid_token\"", ["negotiate", "bearer error=invalid_token"]),
      ("Negotiate a+b/c==, Basic x=y", ["negotiate", "basic x=y"]),
      ("NTLM TlRMTVNTUAAB, Basic realm=\"x\"", ["ntlm", "basic realm=x"]),
      ("Negotiate abc==, Bearer", ["negotiate", "bearer"]), ("Negotiate a/b+c", ["negotiate"]),
      ("Bearer a=", ["bearer"]), ("Bearer a===", ["bearer"]),
      ("BEARER ERROR = \"invalid_token\" , SCOPE=\"a b\"", ["bearer error=invalid_token scope=a b"]),
      ("Bearer  realm = \"x\" ,\terror\t=\"y\"", ["bearer realm=x error=y"]),
      (",, Bearer ,, error=x ,,", ["bearer"]), ("Bearer  error=x,,scope=y,", ["bearer error=x scope=y"]),
      (", ,Bearer realm=x,, error=y,", ["bearer realm=x error=y"]),
      ("Digest a=1, b=2, Bearer c=3, d=4, Basic e=5", ["digest a=1 b=2", "bearer c=3 d=4", "basic e=5"]),
      ("Bearer\terror=x", ["bearer error=x"]), ("Bearer error=\"\"", ["bearer error="]),
      ("Bearer error=\"a\\\\b\\\"c\"", ["bearer error=a\\b\"c"]),
      ("Bearer resource_metadata=https://h/x?y=z", ["bearer resource_metadata=https://h/x?y=z"]),
      ("Bearer resource_metadata=https://h/x?y=z, error=a", ["bearer resource_metadata=https://h/x?y=z error=a"]),
      ("Bearer realm=\"unclosed", ["bearer"]), ("Bearer error=\"x\\", ["bearer"]),
      ("Bearer realm=\"x\" error=y", ["bearer realm=x"]), ("Bearer a=b\"c\"", ["bearer"]),
      ("Bearer a=b\u{E9}", ["bearer"]), ("Bearer {}", ["bearer"]), ("Bearer=\"x\"", []), ("\"Bearer\"", []),
      ("=x", []), ("@@", []), ("\u{E9}", []),
    ] as [(String, [String])])
  func parse(field: String, expected: [String]) { #expect(Self.read([field]) == expected) }

  @Test("of all fields are read, and of a broken one what came before the fault")
  func fields() {
    #expect(Self.read(["Basic realm=\"a\"", "Bearer realm=\"b\""]) == ["basic realm=a", "bearer realm=b"])
    #expect(Self.read(["Bearer {}", "\u{E9}", "Basic a=b"]) == ["bearer", "basic a=b"])
  }

  @Test("are bounded in number, and a field in length")
  func floods() {
    #expect(Challenge.parse([String](repeating: "A, B, C, D, E", count: 100)).count == Challenge.limit)
    let many = "Bearer " + (0..<500).map { "a\($0)=1" }.joined(separator: ", ")
    #expect(Challenge.parse([many]).map(\.parameters.count) == [Challenge.limit])
    #expect(Self.read([String(repeating: "x", count: Challenge.limitBytes + 1), "Bearer"]) == ["bearer"])
    #expect(Challenge.parse([String(repeating: "x", count: Challenge.limitBytes)]).count == 1)
  }
}
