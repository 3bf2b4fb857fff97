import OAuthProtocol
import Sealing
import Testing

@Suite struct AuthorizationResponseTests {
  private func expectation(
    _ redirectURI: String = "http://127.0.0.1:8914/callback", issuer: String? = "https://as.example",
    required: Bool = false
  ) throws -> AuthorizationExpectation {
    try AuthorizationExpectation(
      redirectURI: redirectURI, state: Secret("st-1"), issuer: issuer, issuerRequired: required)
  }

  @Test(
    "a code with our state ends the login",
    arguments: [
      ("/callback?code=abc&state=st-1", "abc"), ("/callback?state=st-1&code=abc", "abc"),
      ("/callback?code=a%2Fb%2Bc&state=st%2D1&session_state=x", "a/b+c"), ("/callback?code=a+b&state=st-1", "a b"),
      ("/callback?code=abc&state=st-1&iss=https%3A%2F%2Fas.example", "abc"),
      ("/callback?&code=abc&&state=st-1&", "abc"), ("/callback?code=abc&state=st-1&scope=a%20b", "abc"),
    ])
  func code(target: String, code: String) throws {
    #expect(try expectation().judge(method: "GET", target: target) == .code(Secret(code)))
  }

  @Test(
    "what is not our answer is ignored, and the listener stays",
    arguments: [
      ("GET", "/favicon.ico", .path), ("HEAD", "/favicon.ico", .path), ("GET", "/", .path), ("GET", "", .path),
      ("GET", "/callback/", .path), ("GET", "/callback/?code=a&state=st-1", .path),
      ("GET", "/Callback?code=a&state=st-1", .path),
      ("GET", "//callback?code=a&state=st-1", .path), ("GET", "/%63allback?code=a&state=st-1", .path),
      ("GET", "http://127.0.0.1:8914/callback?code=a&state=st-1", .path), ("OPTIONS", "*", .path),
      ("GET", "/x/../callback?code=a&state=st-1", .path),
      ("HEAD", "/callback?code=a&state=st-1", .method), ("POST", "/callback?code=a&state=st-1", .method),
      ("get", "/callback?code=a&state=st-1", .method), ("", "/callback?code=a&state=st-1", .method),
      ("GET", "/callback", .state), ("GET", "/callback?", .state), ("GET", "/callback?code=a", .state),
      ("GET", "/callback?code=a&state=", .state), ("GET", "/callback?code=a&state=st-2", .state),
      ("GET", "/callback?code=a&state=st-1x", .state), ("GET", "/callback?code=a&state=st-", .state),
      ("GET", "/callback?code=a&State=st-1", .state), ("GET", "/callback?code=a&state=st-1&state=st-1", .state),
      ("GET", "/callback?code=a&state=st-1&state=st-2", .state), ("GET", "/callback?error=access_denied", .state),
      ("GET", "/callback?error=access_denied&state=other", .state),
      ("GET", "/callback?code=%&state=st-1", .malformed), ("GET", "/callback?code=a b&state=st-1", .malformed),
      ("GET", "/callback?code=é&state=st-1", .malformed), ("GET", "/callback?code=a&state=st-1\r\nX: y", .malformed),
      ("GET", "/callback?state=st-1&" + String(repeating: "a=1&", count: 100), .malformed),
      ("GET", "/callback?code=a&state=st-1&x=" + String(repeating: "y", count: 17_000), .tooLong),
    ] as [(String, String, AuthorizationIgnored)])
  func ignores(method: String, target: String, reason: AuthorizationIgnored) throws {
    #expect(try expectation().judge(method: method, target: target) == .ignore(reason))
  }

  @Test(
    "a response with our state that cannot be used ends the login with a reason",
    arguments: [
      ("/callback?state=st-1", .codeMissing), ("/callback?state=st-1&code=", .codeMalformed),
      ("/callback?state=st-1&code=a%0Ab", .codeMalformed), ("/callback?state=st-1&code=%C3%A9", .codeMalformed),
      ("/callback?state=st-1&code=" + String(repeating: "c", count: 9_000), .codeMalformed),
      ("/callback?state=st-1&code=a&code=a", .duplicateParameter("code")),
      ("/callback?state=st-1&code=a&code=b", .duplicateParameter("code")),
      ("/callback?state=st-1&error=a&error=b", .duplicateParameter("error")),
      ("/callback?state=st-1&code=a&%1B=1&%1B=2", .duplicateParameter("\\u{1b}")),
      ("/callback?state=st-1&code=a&iss=https://as.example&iss=https://as.example", .duplicateParameter("iss")),
      ("/callback?state=st-1&code=a&error=x", .codeAndError), ("/callback?state=st-1&error=", .errorMalformed),
      ("/callback?state=st-1&error=%1B", .errorMalformed),
      ("/callback?state=st-1&code=a&iss=https://evil.example", .issuerMismatch(shown: "https://evil.example")),
      ("/callback?state=st-1&code=a&iss=https://as.example/", .issuerMismatch(shown: "https://as.example/")),
      ("/callback?state=st-1&code=a&iss=", .issuerMismatch(shown: "")),
      (
        "/callback?state=st-1&error=access_denied&iss=https://evil.example",
        .issuerMismatch(shown: "https://evil.example")
      ),
    ] as [(String, AuthorizationRefusal)])
  func refuses(target: String, reason: AuthorizationRefusal) throws {
    #expect(try expectation().judge(method: "GET", target: target) == .refused(reason))
  }

  @Test("iss is required beside a code where the server promises it (RFC 9207 §2.4), and beside an error not")
  func issuerRequired() throws {
    let strict = try expectation(required: true)
    #expect(strict.judge(method: "GET", target: "/callback?state=st-1&code=a") == .refused(.issuerMissing))
    let error = try #require(OAuthError(code: "x"))
    #expect(strict.judge(method: "GET", target: "/callback?state=st-1&error=x") == .denied(error))
    let other = "/callback?state=st-1&error=x&iss=https%3A%2F%2Fother.example"
    #expect(
      strict.judge(method: "GET", target: other) == .refused(.issuerMismatch(shown: "https://other.example")))
    let target = "/callback?state=st-1&code=a&iss=https%3A%2F%2Fas.example"
    #expect(strict.judge(method: "GET", target: target) == .code(Secret("a")))
  }

  @Test("without a known issuer there is nothing to compare iss with")
  func issuerUnknown() throws {
    let loose = try expectation(issuer: nil)
    #expect(loose.judge(method: "GET", target: "/callback?state=st-1&code=a&iss=https://x") == .code(Secret("a")))
  }

  @Test("the server's refusal is told, escaped")
  func denied() throws {
    let target =
      "/callback?state=st-1&error=access_denied&error_description=No%1B%5B2J+way&error_uri=https://as.example/help"
    let verdict = try expectation().judge(method: "GET", target: target)
    guard case .denied(let error) = verdict else {
      Issue.record("\(verdict)")
      return
    }
    #expect(error.code == "access_denied")
    #expect(error.explanation == "No\\u{1b}[2J way")
    #expect(verdict.description == "The server did not grant access: access_denied (No\\u{1b}[2J way).")
  }

  @Test(
    "a pasted address is judged as if the browser had come",
    arguments: [
      ("http://127.0.0.1:8914/callback?code=abc&state=st-1", .code(Secret("abc"))),
      ("  http://127.0.0.1:8914/callback?code=abc&state=st-1\n", .code(Secret("abc"))),
      ("http://127.0.0.1:8914/callback?code=abc&state=st-1#_=_", .code(Secret("abc"))),
      ("HTTP://127.0.0.1:8914/callback?code=abc&state=st-1", .code(Secret("abc"))),
      ("http://127.0.0.1:8915/callback?code=abc&state=st-1", .ignore(.path)),
      ("http://localhost:8914/callback?code=abc&state=st-1", .ignore(.path)),
      ("https://127.0.0.1:8914/callback?code=abc&state=st-1", .ignore(.path)),
      ("http://127.0.0.1:8914/other?code=abc&state=st-1", .ignore(.path)),
      ("http://127.0.0.1:8914/callback?code=abc&state=st-2", .ignore(.state)),
      ("http://127.0.0.1:8914/callback#code=abc&state=st-1", .ignore(.state)),
      ("abc", .ignore(.malformed)), ("", .ignore(.malformed)), ("code=abc&state=st-1", .ignore(.malformed)),
      ("http://127.0.0.1:8914/callback?code=abc &state=st-1", .ignore(.malformed)),
      (String(repeating: "x", count: 20_000), .ignore(.tooLong)),
      ("http://127.0.0.1:8914/callback?state=st-1", .refused(.codeMissing)),
    ] as [(String, AuthorizationVerdict)])
  func pasted(text: String, verdict: AuthorizationVerdict) throws {
    #expect(try expectation().judge(pasted: text) == verdict)
  }

  @Test("a redirect by a scheme of its own is met by that address alone, and never by a listener")
  func ownScheme() throws {
    let own = try expectation("com.example.app:/cb")
    #expect(own.judge(pasted: "com.example.app:/cb?code=a&state=st-1#_") == .code(Secret("a")))
    #expect(own.judge(pasted: "com.example.app:/cb?code=a&state=st-2") == .ignore(.state))
    for other in ["com.example.app:/cb/", "com.example.ap:/cb", "http://127.0.0.1/cb", ":/cb"] {
      #expect(own.judge(pasted: other + "?code=a&state=st-1") == .ignore(.path))
    }
    #expect(own.judge(method: "GET", target: "/cb?code=a&state=st-1") == .ignore(.path))
    #expect(own.judge(method: "GET", target: "com.example.app:/cb?code=a&state=st-1") == .ignore(.path))
  }

  @Test("a redirect URI without a path is met by the root path")
  func rootPath() throws {
    let root = try expectation("http://127.0.0.1:8914")
    #expect(root.judge(method: "GET", target: "/?code=a&state=st-1") == .code(Secret("a")))
    #expect(root.judge(pasted: "http://127.0.0.1:8914/?code=a&state=st-1") == .code(Secret("a")))
  }

  @Test("no sentence holds the code or the state")
  func sentences() throws {
    for target in [
      "/callback?code=SECRET&state=st-1", "/callback?code=SECRET&state=bad", "/callback?code=SECRET&state=st-1&error=x",
    ] {
      let text = try expectation().judge(method: "GET", target: target).description
      #expect(!text.contains("SECRET") && !text.contains("st-1"))
    }
  }
}
