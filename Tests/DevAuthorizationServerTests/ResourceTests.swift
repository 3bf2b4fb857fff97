import DevAuthorizationServer
import OAuthProtocol
import Testing

@Suite struct ResourceTests {
  @Test(
    "Requests without a good token get the challenge of RFC 6750 §3",
    arguments: [
      ([], "/api/hello", 401, "Bearer realm=\"dev\""),
      (["Basic YTpi"], "/api/hello", 401, "Bearer realm=\"dev\""),
      (["Bearer nonsense"], "/api/hello", 401, "error=\"invalid_token\""),
      (["Bearer"], "/api/hello", 400, "error=\"invalid_request\""),
      (["Bearer a b"], "/api/hello", 400, "error=\"invalid_request\""),
      (["Bearer a", "Bearer b"], "/api/hello", 400, "error=\"invalid_request\""),
      (["Bearer TOKEN"], "/api/hello?access_token=x", 400, "error=\"invalid_request\""),
      (["Bearer TOKEN"], "/api/scope/email", 403, "error=\"insufficient_scope\", error_description=\"this needs"),
      (
        ["Bearer TOKEN"], "/userinfo", 403,
        "error=\"insufficient_scope\", error_description=\"this needs the scope openid\", scope"
      ),
    ] as [([String], String, Int, String)])
  func challenges(fields: [String], target: String, status: Int, challenge: String) {
    var fixture = ServerFixture()
    let token = fixture.logIn().access
    let headers = fields.map { HTTPField("authorization", $0.replacing("TOKEN", with: token)) }
    let answer = fixture.get(target, headers)
    #expect(answer.status == status)
    let value = answer.headers.value("WWW-Authenticate") ?? ""
    #expect(value.contains(challenge))
    if !challenge.contains("error") { #expect(!value.contains("error")) }
  }

  @Test("A good token opens what its scope allows, and the answer tells the body's digest")
  func opens() {
    var fixture = ServerFixture()
    let token = fixture.logIn().access
    let field = HTTPField("Authorization", "bearer \(token)")
    #expect(fixture.get("/api/scope/write", [field]).status == 200)
    let request = DevRequest("POST", "/api/hello", headers: [field], body: Array("abc".utf8))
    let answer = fixture.server.respond(to: request, at: fixture.now)
    #expect(answer.text.contains("\"hello\":\"alice\""))
    #expect(
      answer.text.contains("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
    #expect(fixture.get("/api/other", [field]).status == 404)
  }

  @Test("Revocation: a refresh token takes its family along, an access token only itself, unknown ones are fine")
  func revocation() {
    var fixture = ServerFixture()
    let first = fixture.logIn()
    #expect(fixture.post("/revoke", ["token": first.access, "client_id": "dev"]).status == 200)
    #expect(fixture.hello(first.access) == 401)
    let second = Tokens(fixture.refresh(first.refresh))
    #expect(second.error == nil)
    #expect(Tokens(fixture.post("/revoke", ["token": second.refresh, "client_id": "dev-tv"])).error == "invalid_grant")
    #expect(fixture.hello(second.access) == 200)
    #expect(fixture.post("/revoke", ["token": second.refresh, "client_id": "dev"]).status == 200)
    #expect(fixture.hello(second.access) == 401)
    #expect(Tokens(fixture.refresh(second.refresh)).error == "invalid_grant")
    #expect(fixture.post("/revoke", ["token": "unknown", "client_id": "dev"]).status == 200)
    #expect(Tokens(fixture.post("/revoke", ["client_id": "dev"])).error == "invalid_request")
    #expect(fixture.post("/revoke", ["token": "x", "client_id": "dev-web"]).status == 401)
  }

  @Test("Introspection tells confidential clients about live tokens and nothing about dead ones")
  func introspection() {
    var fixture = ServerFixture()
    let tokens = Tokens(fixture.exchange(fixture.code(["resource": "https://api.example/"])))
    let asking = [ServerFixture.basic("dev-api", "dev-api-secret")]
    let live = fixture.post("/introspect", ["token": tokens.access], asking).text
    #expect(live.contains("\"active\":true"))
    #expect(live.contains("\"scope\":\"read write\""))
    #expect(live.contains("\"exp\":1700000060"))
    #expect(live.contains("\"aud\":[\"https://api.example/\"]"))
    #expect(fixture.post("/introspect", ["token": tokens.refresh], asking).text.contains("\"active\":true"))
    _ = fixture.refresh(tokens.refresh)
    fixture.now += 60
    for token in [tokens.access, tokens.refresh, "unknown"] {
      #expect(fixture.post("/introspect", ["token": token], asking).text == "{\"active\":false}\n")
    }
    #expect(fixture.post("/introspect", ["token": tokens.access, "client_id": "dev"]).status == 401)
  }

  @Test("All access tokens, or all logins, can be revoked at once")
  func revokeAll() {
    var fixture = ServerFixture()
    let tokens = fixture.logIn()
    fixture.server.revokeAccessTokens()
    #expect(fixture.hello(tokens.access) == 401)
    let next = Tokens(fixture.refresh(tokens.refresh))
    #expect(fixture.hello(next.access) == 200)
    fixture.server.revokeGrants()
    #expect(fixture.hello(next.access) == 401)
    #expect(Tokens(fixture.refresh(next.refresh)).error == "invalid_grant")
  }
}
