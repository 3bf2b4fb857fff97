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
    var bench = Bench()
    let token = bench.logIn().access
    let headers = fields.map { HTTPField("authorization", $0.replacing("TOKEN", with: token)) }
    let answer = bench.get(target, headers)
    #expect(answer.status == status)
    let value = answer.headers.value("WWW-Authenticate") ?? ""
    #expect(value.contains(challenge))
    if !challenge.contains("error") { #expect(!value.contains("error")) }
  }

  @Test("A good token opens what its scope allows, and the answer tells the body's digest")
  func opens() {
    var bench = Bench()
    let token = bench.logIn().access
    let field = HTTPField("Authorization", "bearer \(token)")
    #expect(bench.get("/api/scope/write", [field]).status == 200)
    let request = DevRequest("POST", "/api/hello", headers: [field], body: Array("abc".utf8))
    let answer = bench.server.respond(to: request, at: bench.now)
    #expect(answer.text.contains("\"hello\":\"alice\""))
    #expect(
      answer.text.contains("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
    #expect(bench.get("/api/other", [field]).status == 404)
  }

  @Test("Revocation: a refresh token takes its family along, an access token only itself, unknown ones are fine")
  func revocation() {
    var bench = Bench()
    let first = bench.logIn()
    #expect(bench.post("/revoke", ["token": first.access, "client_id": "dev"]).status == 200)
    #expect(bench.hello(first.access) == 401)
    let second = Tokens(bench.refresh(first.refresh))
    #expect(second.error == nil)
    #expect(Tokens(bench.post("/revoke", ["token": second.refresh, "client_id": "dev-tv"])).error == "invalid_grant")
    #expect(bench.hello(second.access) == 200)
    #expect(bench.post("/revoke", ["token": second.refresh, "client_id": "dev"]).status == 200)
    #expect(bench.hello(second.access) == 401)
    #expect(Tokens(bench.refresh(second.refresh)).error == "invalid_grant")
    #expect(bench.post("/revoke", ["token": "unknown", "client_id": "dev"]).status == 200)
    #expect(Tokens(bench.post("/revoke", ["client_id": "dev"])).error == "invalid_request")
    #expect(bench.post("/revoke", ["token": "x", "client_id": "dev-web"]).status == 401)
  }

  @Test("Introspection tells confidential clients about live tokens and nothing about dead ones")
  func introspection() {
    var bench = Bench()
    let tokens = Tokens(bench.exchange(bench.code(["resource": "https://api.example/"])))
    let asking = [Bench.basic("dev-api", "dev-api-secret")]
    let live = bench.post("/introspect", ["token": tokens.access], asking).text
    #expect(live.contains("\"active\":true"))
    #expect(live.contains("\"scope\":\"read write\""))
    #expect(live.contains("\"exp\":1700000060"))
    #expect(live.contains("\"aud\":[\"https://api.example/\"]"))
    #expect(bench.post("/introspect", ["token": tokens.refresh], asking).text.contains("\"active\":true"))
    _ = bench.refresh(tokens.refresh)
    bench.now += 60
    for token in [tokens.access, tokens.refresh, "unknown"] {
      #expect(bench.post("/introspect", ["token": token], asking).text == "{\"active\":false}\n")
    }
    #expect(bench.post("/introspect", ["token": tokens.access, "client_id": "dev"]).status == 401)
  }

  @Test("All access tokens, or all logins, can be revoked at once")
  func revokeAll() {
    var bench = Bench()
    let tokens = bench.logIn()
    bench.server.revokeAccessTokens()
    #expect(bench.hello(tokens.access) == 401)
    let next = Tokens(bench.refresh(tokens.refresh))
    #expect(bench.hello(next.access) == 200)
    bench.server.revokeGrants()
    #expect(bench.hello(next.access) == 401)
    #expect(Tokens(bench.refresh(next.refresh)).error == "invalid_grant")
  }
}
