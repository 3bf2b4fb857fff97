import DevAuthorizationServer
import OAuthProtocol
import Testing

@Suite struct AuthorizeTests {
  @Test("Auto-consent answers with a code, the state and iss")
  func automatic() {
    var fixture = ServerFixture()
    let answer = fixture.get(ServerFixture.authorizeTarget())
    #expect(answer.status == 303)
    let redirect = Redirect(answer)
    #expect(redirect.base == ServerFixture.redirect)
    #expect(redirect.parameters["state"] == "s-1")
    #expect(redirect.parameters["iss"] == ServerFixture.issuer)
    #expect(redirect.parameters["code"]?.isEmpty == false)
  }

  @Test(
    "What is wrong with a request goes back to the client as an error",
    arguments: [
      ("response_type", nil, "invalid_request"), ("response_type", "token", "unsupported_response_type"),
      ("code_challenge", nil, "invalid_request"), ("code_challenge", "short", "invalid_request"),
      ("code_challenge_method", "plain", "invalid_request"), ("code_challenge_method", nil, "invalid_request"),
      ("scope", "read fly", "invalid_scope"), ("resource", "/relative", "invalid_target"),
    ] as [(String, String?, String)])
  func errors(name: String, value: String?, error: String) {
    var fixture = ServerFixture()
    let redirect = Redirect(fixture.get(ServerFixture.authorizeTarget([name: value])))
    #expect(redirect.base == ServerFixture.redirect)
    #expect(redirect.parameters["error"] == error)
    #expect(redirect.parameters["state"] == "s-1")
    #expect(redirect.parameters["iss"] == ServerFixture.issuer)
    #expect(redirect.parameters["code"] == nil)
  }

  @Test(
    "Without a trusted place to go back to, the error is shown and nothing redirects",
    arguments: [
      ("client_id", "nobody"), ("client_id", nil), ("redirect_uri", nil),
      ("redirect_uri", "http://127.0.0.1:5050/other"), ("redirect_uri", "https://evil.example/callback"),
      ("redirect_uri", "http://127.0.0.1.evil.example/callback"), ("redirect_uri", "http://127.0.0.1:0/callback"),
      ("redirect_uri", "http://127.0.0.1:99999/callback"),
      ("redirect_uri", "http://127.0.0.1:80@evil.example/callback"),
      ("redirect_uri", "http://127.0.0.1/callback#x"), ("redirect_uri", "https://127.0.0.1:5050/callback"),
    ] as [(String, String?)])
  func untrusted(name: String, value: String?) {
    var fixture = ServerFixture()
    let answer = fixture.get(ServerFixture.authorizeTarget([name: value]))
    #expect(answer.status == 400)
    #expect(answer.headers.value("Location") == nil)
  }

  @Test(
    "Any port of a loopback redirect fits",
    arguments: [
      "http://127.0.0.1/callback", "http://127.0.0.1:1/callback", "http://[::1]:65535/callback",
      "http://localhost:8914/callback",
    ])
  func loopback(uri: String) {
    var fixture = ServerFixture()
    #expect(Redirect(fixture.get(ServerFixture.authorizeTarget(["redirect_uri": uri]))).base == uri)
  }

  @Test("A repeated parameter is refused on a page")
  func repeated() {
    var fixture = ServerFixture()
    #expect(fixture.get(ServerFixture.authorizeTarget() + "&state=2").status == 400)
  }

  @Test("Login page, consent page and decision lead back to the client", arguments: ["allow", "deny"])
  func pages(decision: String) {
    var fixture = ServerFixture { $0.autoConsent = false }
    let login = fixture.get(ServerFixture.authorizeTarget(["login_hint": "a\"<b>"]))
    #expect(login.status == 200)
    #expect(login.text.contains("value=\"a&quot;&lt;b&gt;\""))
    #expect(login.headers.value("Content-Security-Policy")?.hasPrefix("default-src 'none'") == true)
    let id = login.hidden("authorization")
    #expect(!id.isEmpty)

    // A decision before the login counts for nothing.
    #expect(fixture.post("/authorize/consent", ["authorization": id, "decision": "allow"]).status == 400)
    for (user, password) in [("mallory", "x"), ("alice", ""), ("alice", "wrong")] {
      let form: KeyValuePairs = ["authorization": id, "username": user, "password": password]
      #expect(fixture.post("/authorize/login", form).status == 403)
    }
    let consent = fixture.post("/authorize/login", ["authorization": id, "username": "alice", "password": "x"])
    #expect(consent.status == 200)
    #expect(consent.text.contains("<li>write</li>"))

    let end = Redirect(fixture.post("/authorize/consent", ["authorization": id, "decision": decision]))
    #expect(end.parameters["state"] == "s-1")
    if decision == "allow" {
      #expect(fixture.exchange(end.parameters["code"] ?? "").status == 200)
    } else {
      #expect(end.parameters["error"] == "access_denied")
    }
    // The form works once.
    #expect(fixture.post("/authorize/consent", ["authorization": id, "decision": "allow"]).status == 400)
  }

  @Test("The login form dies after ten minutes")
  func expiry() {
    var fixture = ServerFixture { $0.autoConsent = false }
    let id = fixture.get(ServerFixture.authorizeTarget()).hidden("authorization")
    fixture.now += 600
    let late = fixture.post("/authorize/login", ["authorization": id, "username": "alice", "password": "x"])
    #expect(late.status == 400)
  }
}
