import HTTPTerms
import OAuthProtocol
import Sealing
import Testing

@Suite struct AuthorizationRequestTests {
  private func request(_ endpoint: String = "https://as.example/authorize", extra: [ExtraParameter] = []) throws
    -> AuthorizationRequest
  {
    AuthorizationRequest(
      endpoint: try WebURL(endpoint), clientID: "app 1", redirectURI: "http://127.0.0.1:8914/callback",
      scope: ["read", "write"], state: Secret("st"), codeChallenge: "ch", extra: extra)
  }

  @Test("the challenge is the one of RFC 7636 Appendix B")
  func appendixB() {
    let pkce = PKCE(verifier: Secret("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"))
    #expect(pkce.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
  }

  @Test("verifier and state hold 256 random bits in 43 unreserved characters")
  func random() {
    let pkce = PKCE(random: CountingRandom())
    #expect(pkce.verifier == Secret("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"))
    #expect(AuthorizationState.make(random: CountingRandom()).count == 43)
    #expect(PKCE(random: SystemRandom()).verifier != PKCE(random: SystemRandom()).verifier)
  }

  @Test("the URL carries everything, in order, encoded")
  func url() throws {
    var request = try request(extra: [ExtraParameter("prompt", "consent"), ExtraParameter("login_hint", "a+b@c")])
    request.resources = ["https://api.example/x"]
    request.nonce = "n"
    let url = try request.url()
    #expect(url.hasPrefix("https://as.example/authorize?response_type=code&client_id=app%201&"))
    #expect(
      try lines(query: url) == [
        "response_type=code", "client_id=app 1", "redirect_uri=http://127.0.0.1:8914/callback", "scope=read write",
        "state=st", "nonce=n", "code_challenge=ch", "code_challenge_method=S256", "resource=https://api.example/x",
        "prompt=consent", "login_hint=a+b@c",
      ])
  }

  @Test("the endpoint's own query is kept")
  func ownQuery() throws {
    let url = try request("https://as.example/authorize?tenant=x").url()
    #expect(url.hasPrefix("https://as.example/authorize?tenant=x&response_type=code&"))
  }

  @Test("without a scope there is no scope parameter")
  func noScope() throws {
    var request = try request()
    request.scope = []
    #expect(!(try request.url().contains("scope=")))
  }

  @Test(
    "what the protocol sets cannot be overridden",
    arguments: [
      "response_type", "client_id", "redirect_uri", "state", "nonce", "scope", "code_challenge",
      "code_challenge_method", "code_challenge_x", "request", "request_uri", "response_mode",
      // As PHP and others read them.
      "redirect.uri", "Redirect_URI", "redirect-uri", "redirect_uri.", "__state", "code.challenge",
    ])
  func reserved(name: String) throws {
    let request = try request(extra: [ExtraParameter(name, "x")])
    #expect(throws: ProtocolError.reservedParameter(name)) { try request.url() }
    let sent = [
      "response_type", "client_id", "redirect_uri", "state", "scope", "code_challenge", "code_challenge_method",
    ]
    guard sent.contains(name) else { return }
    let inEndpoint = try self.request("https://as.example/authorize?\(name)=x")
    #expect(throws: ProtocolError.duplicateParameter(name)) { try inEndpoint.url() }
  }

  @Test(
    "malformed and repeated extra parameters are refused",
    arguments: [
      [ExtraParameter("", "x")], [ExtraParameter("a b", "x")], [ExtraParameter("é", "x")],
      [ExtraParameter("redirect[uri", "x")], [ExtraParameter("[redirect_uri]", "x")], [ExtraParameter("a;state", "x")],
      [ExtraParameter("a", "x\ny")], [ExtraParameter("a", "1"), ExtraParameter("a", "2")],
      [ExtraParameter("a", String(repeating: "x", count: 3_000))],
    ])
  func malformed(extra: [ExtraParameter]) throws {
    let request = try request(extra: extra)
    #expect(throws: ProtocolError.self) { try request.url() }
  }

  @Test("a scope or resource that would break the request is refused")
  func badScope() throws {
    var request = try request()
    request.scope = ["a b"]
    #expect(throws: ProtocolError.self) { try request.url() }
    request.scope = []
    request.resources = ["api"]
    #expect(throws: ProtocolError.self) { try request.url() }
  }
}
