import DevAuthorizationServer
import OAuthProtocol
import Testing

@Suite struct ControlTests {
  private func script(_ fixture: inout ServerFixture, _ json: String, _ headers: [HTTPField] = []) -> DevResponse {
    let fields = [HTTPField("Content-Type", "application/json"), HTTPField("Host", "127.0.0.1:8080")]
    return fixture.server.respond(
      to: DevRequest("POST", "/_dev/script", headers: headers + fields, body: Array(json.utf8)), at: fixture.now)
  }

  @Test("Every member changes what it names")
  func members() {
    var fixture = ServerFixture()
    let tokens = fixture.logIn()
    let answer = script(
      &fixture,
      """
      {"access_token_life_s": 5, "refresh_token_life_s": 50, "code_life_s": 6, "device_code_life_s": 7,
       "device_interval_s": 1, "rotation": "grace=3", "omit_expires_in": true, "auto_consent": false,
       "refresh_revokes_access_tokens": true, "send_iss": false, "token_length": 20, "delay_ms": {"token": 40},
       "id_token_life_s": 8, "session_age_s": 9, "refresh_gives_id_token": false, "users": ["bob"],
       "id_token_claims": {"iss": "https://evil.example", "nonce": null},
       "revoke_access_tokens": true, "clear_log": true,
       "answers": [{"endpoint": "token", "action": "answer", "status": 429, "headers": {"Retry-After": "1"},
                    "body": "slow", "times": 2, "grant_type": "refresh_token"},
                   {"endpoint": "git", "action": "act_then_cut", "after_bytes": 3}]}
      """)
    #expect(answer.status == 200, "\(answer.text)")
    let options = fixture.server.options
    #expect(options.accessTokenLifeSeconds == 5)
    #expect(options.refreshTokenLifeSeconds == 50)
    #expect(options.codeLifeSeconds == 6)
    #expect(options.deviceCodeLifeSeconds == 7)
    #expect(options.deviceIntervalSeconds == 1)
    #expect(options.rotation == .grace(seconds: 3))
    #expect(options.idTokenLifeSeconds == 8 && options.sessionAgeSeconds == 9 && !options.refreshGivesIDToken)
    #expect(options.users == ["bob"])
    #expect(options.idTokenClaims == ["iss": "https://evil.example", "nonce": nil])
    #expect(options.omitExpiresIn)
    #expect(!options.autoConsent)
    #expect(options.refreshRevokesAccessTokens)
    #expect(!options.sendsIssuer)
    #expect(options.tokenLength == 20)
    #expect(options.delayMilliseconds == [.token: 40])
    #expect(fixture.server.log.isEmpty)
    #expect(fixture.server.scriptsLeft(.token) == 2)
    #expect(fixture.server.scriptsLeft(.git) == 1)
    #expect(fixture.hello(tokens.access) == 401)
    #expect(fixture.refresh(tokens.refresh).status == 429)
    #expect(script(&fixture, "{\"clear_answers\": true, \"revoke_grants\": true}").status == 200)
    #expect(Tokens(fixture.refresh(tokens.refresh)).error == "invalid_grant")
  }

  @Test(
    "A wrong member is named and nothing changes",
    arguments: [
      ("{\"auto_consent\": false, \"acess_life\": 3}", "unknown member acess_life"),
      ("{\"auto_consent\": \"no\"}", "auto_consent: wrong type"), ("{", "not JSON"), ("[]", "wrong type"),
      ("{\"auto_consent\": false, \"rotation\": \"sometimes\"}", "rotation must be"),
      ("{\"access_token_life_s\": -1}", "access_token_life_s must be"),
      ("{\"token_length\": 7}", "token_length must be"),
      ("{\"access_token_life_s\": 1e300}", "access_token_life_s must be"),
      ("{\"delay_ms\": {\"tokens\": 1}}", "delay_ms must be"), ("{\"delay_ms\": {\"token\": 1e9}}", "delay_ms must be"),
      ("{\"answers\": [{\"endpoint\": \"nowhere\", \"action\": \"drop\"}]}", "unknown value"),
      ("{\"answers\": [{\"endpoint\": \"token\", \"action\": \"explode\"}]}", "unknown value"),
      ("{\"answers\": [{\"endpoint\": \"token\"}]}", "action is missing"),
      ("{\"answers\": [{\"endpoint\": \"token\", \"action\": \"answer\", \"status\": 99}]}", "status must be"),
      ("{\"answers\": [{\"endpoint\": \"token\", \"action\": \"answer\", \"state\": 99}]}", "unknown member state"),
      (
        "{\"answers\": [{\"endpoint\": \"token\", \"action\": \"answer\", \"headers\": {\"A\": \"b\\r\\nC: d\"}}]}",
        "headers must be"
      ),
    ])
  func refused(json: String, problem: String) {
    var fixture = ServerFixture()
    let answer = script(&fixture, json)
    #expect(answer.status == 400)
    #expect(answer.text.contains(problem), "\(answer.text)")
    #expect(fixture.server.options.autoConsent)
  }

  @Test("A device is approved by its user code; one that nobody waits with is told")
  func device() {
    var fixture = ServerFixture()
    let start = fixture.post("/device_authorization", ["client_id": "dev-tv"]).text
    let code = start.split(separator: "\"user_code\":\"")[1].prefix(9)
    #expect(script(&fixture, "{\"approve_device\": \"\(code)\"}").status == 200)
    #expect(script(&fixture, "{\"deny_device\": \"\(code)\"}").status == 404)
  }

  @Test(
    "Web pages cannot reach the control endpoints",
    arguments: [
      [HTTPField("Host", "evil.example")], [HTTPField("Origin", "http://evil.example")],
      [HTTPField("Host", "127.0.0.1.evil.example")], [HTTPField("Host", "localhostevil")],
    ])
  func foreign(headers: [HTTPField]) {
    var fixture = ServerFixture()
    #expect(script(&fixture, "{\"auto_consent\": false}", headers).status == 403)
    #expect(fixture.get("/_dev/log", headers).status == 403)
    let plain = DevRequest(
      "POST", "/_dev/script", headers: [HTTPField("Content-Type", "text/plain")], body: Array("{}".utf8))
    #expect(fixture.server.respond(to: plain, at: 0).status == 415)
    #expect(fixture.server.options.autoConsent)
  }
}
