import DevAuthorizationServer
import OAuthProtocol
import Testing

@Suite struct TokenTests {
  @Test("A code with its verifier gives tokens that work until they expire")
  func exchange() {
    var fixture = ServerFixture()
    let answer = fixture.exchange(fixture.code())
    #expect(answer.status == 200)
    #expect(answer.headers.value("Cache-Control") == "no-store")
    let tokens = Tokens(answer)
    #expect(tokens.tokenType == "Bearer")
    #expect(tokens.expiresIn == 60)
    #expect(tokens.scope == "read write")
    #expect(fixture.hello(tokens.access) == 200)
    fixture.now += 59.5
    #expect(fixture.hello(tokens.access) == 200)
    fixture.now += 0.5
    #expect(fixture.hello(tokens.access) == 401)
  }

  @Test(
    "A code is bound to its verifier, redirect, client and life",
    arguments: [
      ("code_verifier", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXX", 0, "invalid_grant"),
      ("code_verifier", nil, 0, "invalid_request"), ("code_verifier", "short", 0, "invalid_grant"),
      ("redirect_uri", "http://127.0.0.1:5051/callback", 0, "invalid_grant"), ("redirect_uri", nil, 0, "invalid_grant"),
      ("client_id", "dev-tv", 0, "unauthorized_client"), ("client_id", nil, 0, "invalid_client"),
      ("code", "other", 0, "invalid_grant"), ("code", nil, 0, "invalid_request"), ("state", "s-1", 60, "invalid_grant"),
      ("grant_type", "implicit", 0, "unsupported_grant_type"), ("grant_type", nil, 0, "invalid_request"),
      ("grant_type", "password", 0, "unauthorized_client"),
    ] as [(String, String?, Double, String)])
  func binding(name: String, value: String?, wait: Double, error: String) {
    var fixture = ServerFixture()
    let code = fixture.code()
    fixture.now += wait
    let answer = fixture.exchange(code, [name: value])
    #expect(Tokens(answer).error == error)
    #expect(answer.status == (error == "invalid_client" ? 401 : 400))
  }

  @Test("Another client cannot use a code, even with its own secret")
  func foreignCode() {
    var fixture = ServerFixture()
    let code = fixture.code()
    let stolen = fixture.exchange(code, ["client_id": "dev-web", "client_secret": "dev-web-secret"])
    #expect(Tokens(stolen).error == "invalid_grant")
    #expect(fixture.exchange(code).status == 200)
  }

  @Test("A wrong verifier uses the code up")
  func wrongVerifier() {
    var fixture = ServerFixture()
    let code = fixture.code()
    _ = fixture.exchange(code, ["code_verifier": String(repeating: "a", count: 43)])
    #expect(Tokens(fixture.exchange(code)).error == "invalid_grant")
  }

  @Test("A replayed code revokes the tokens of its first use")
  func replay() {
    var fixture = ServerFixture()
    let code = fixture.code()
    let tokens = Tokens(fixture.exchange(code))
    #expect(Tokens(fixture.exchange(code)).error == "invalid_grant")
    #expect(fixture.hello(tokens.access) == 401)
    #expect(Tokens(fixture.refresh(tokens.refresh)).error == "invalid_grant")
  }

  @Test(
    "A confidential client proves itself by Basic or by the form, never by both",
    arguments: [
      ("dev-machine-secret", nil, nil), ("wrong", nil, "invalid_client"), (nil, nil, "invalid_client"),
      (nil, "dev-machine-secret", nil), (nil, "wrong", "invalid_client"),
      ("dev-machine-secret", "dev-machine-secret", "invalid_request"),
    ] as [(String?, String?, String?)])
  func authentication(basic: String?, inForm: String?, error: String?) {
    var fixture = ServerFixture()
    let answer = fixture.post(
      "/token", ["grant_type": "client_credentials", "client_id": "dev-machine", "client_secret": inForm ?? ""],
      basic.map { [ServerFixture.basic("dev-machine", $0)] } ?? [])
    #expect(Tokens(answer).error == error)
    if error == "invalid_client" {
      #expect(answer.status == 401)
      #expect(answer.headers.value("WWW-Authenticate") == "Basic realm=\"dev\"")
    }
    if error == nil {
      #expect(Tokens(answer).refreshToken == nil)
      #expect(fixture.hello(Tokens(answer).access) == 200)
    }
  }

  @Test("Basic carries form-encoded name and secret (RFC 6749 §2.3.1)")
  func formEncodedBasic() {
    var fixture = ServerFixture { options in
      options.clients.append(DevClient(id: "a:b c", secret: "p%+é&=/", grantTypes: [.clientCredentials]))
    }
    let form: KeyValuePairs = ["grant_type": "client_credentials"]
    let right = fixture.post("/token", form, [ServerFixture.basic("a%3Ab+c", "p%25%2B%C3%A9%26%3D%2F")])
    #expect(right.status == 200)
    #expect(fixture.post("/token", form, [ServerFixture.basic("a%3Ab+c", "p%+é&=/")]).status == 401)
  }

  @Test(
    "The password grant knows its users",
    arguments: [("alice", "any", nil), ("alice", "wrong", "invalid_grant"), ("bob", "any", "invalid_grant")]
      as [(String, String, String?)])
  func password(user: String, password: String, error: String?) {
    var fixture = ServerFixture()
    let answer = Tokens(
      fixture.post(
        "/token", ["grant_type": "password", "client_id": "dev-legacy", "username": user, "password": password]))
    #expect(answer.error == error)
    #expect((answer.refreshToken != nil) == (error == nil))
  }

  @Test("Only a form post is a token request")
  func form() {
    var fixture = ServerFixture()
    #expect(fixture.get("/token").status == 405)
    let json = DevRequest("POST", "/token", headers: [HTTPField("Content-Type", "application/json")])
    #expect(Tokens(fixture.server.respond(to: json, at: 0)).error == "invalid_request")
    for body in ["grant_type=a&grant_type=b", "grant_type=%zz", "grant_type=%ff", "a=%"] {
      let request = DevRequest(
        "POST", "/token", headers: [HTTPField("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")],
        body: Array(body.utf8))
      #expect(Tokens(fixture.server.respond(to: request, at: 0)).error == "invalid_request", "\(body)")
    }
    let large = DevRequest("POST", "/token", body: Array(repeating: 0x61, count: 65_537))
    #expect(fixture.server.respond(to: large, at: 0).status == 413)
  }

  @Test("Life, form and length of tokens follow the options")
  func shape() {
    var fixture = ServerFixture { options in
      options.omitExpiresIn = true
      options.tokenPrefix = "dev_"
      options.tokenLength = 4_000
      options.accessTokenLifeSeconds = 2
    }
    let tokens = fixture.logIn()
    #expect(tokens.expiresIn == nil)
    #expect(tokens.access.hasPrefix("dev_"))
    #expect(tokens.access.utf8.count == 4_004)
    fixture.now += 2
    #expect(fixture.hello(tokens.access) == 401)
  }

  @Test("The same seed gives the same tokens, the kernel's never the same")
  func randomness() {
    var first = ServerFixture()
    var second = ServerFixture()
    #expect(first.logIn() == second.logIn())
    var third = ServerFixture()
    third.server = DevAuthorizationServer(third.server.options)
    #expect(third.logIn() != first.logIn())
  }
}
