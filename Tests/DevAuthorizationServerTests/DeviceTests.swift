import DevAuthorizationServer
import FoundationEssentials
import Testing

@Suite struct DeviceTests {
  struct Start: Decodable {
    var deviceCode: String
    var userCode: String
    var verificationUri: String
    var verificationUriComplete: String
    var expiresIn: Int
    var interval: Int
  }

  private func start(_ fixture: inout ServerFixture) throws -> Start {
    let answer = fixture.post("/device_authorization", ["client_id": "dev-tv", "scope": "read"])
    return try JSONDecoder.snakeCase.decode(Start.self, from: Data(answer.body))
  }

  private func poll(_ fixture: inout ServerFixture, _ code: String, client: String = "dev-tv") -> Tokens {
    let grant = "urn:ietf:params:oauth:grant-type:device_code"
    return Tokens(fixture.post("/token", ["grant_type": grant, "device_code": code, "client_id": client]))
  }

  @Test("The start tells codes, page, life and interval")
  func begins() throws {
    var fixture = ServerFixture()
    let start = try start(&fixture)
    #expect(start.userCode.utf8.count == 9)
    #expect(start.verificationUri == ServerFixture.issuer + "/device")
    #expect(start.verificationUriComplete == ServerFixture.issuer + "/device?user_code=" + start.userCode)
    #expect(start.expiresIn == 600)
    #expect(start.interval == 5)
    #expect(Tokens(fixture.post("/device_authorization", ["client_id": "dev-web"])).error == "invalid_client")
  }

  @Test("Polls are pending, then allowed, then used up")
  func allowed() throws {
    var fixture = ServerFixture()
    let start = try start(&fixture)
    #expect(poll(&fixture, start.deviceCode).error == "authorization_pending")
    fixture.now += 5
    #expect(poll(&fixture, start.deviceCode, client: "dev").error == "invalid_grant")
    let typed = start.userCode.lowercased().replacing("-", with: " ")
    let isKnown = fixture.server.decideDevice(userCode: typed, allow: true, at: fixture.now)
    #expect(isKnown)
    let tokens = poll(&fixture, start.deviceCode)
    #expect(tokens.scope == "read")
    #expect(fixture.hello(tokens.access) == 200)
    #expect(fixture.refresh(tokens.refresh, clientID: "dev-tv").status == 200)
    fixture.now += 5
    #expect(poll(&fixture, start.deviceCode).error == "invalid_grant")
  }

  @Test("Each poll too early makes the interval five seconds longer, for good")
  func slowDown() throws {
    var fixture = ServerFixture()
    let start = try start(&fixture)
    #expect(poll(&fixture, start.deviceCode).error == "authorization_pending")
    fixture.now += 4.9
    #expect(poll(&fixture, start.deviceCode).error == "slow_down")
    fixture.now += 9.9
    #expect(poll(&fixture, start.deviceCode).error == "slow_down")
    fixture.now += 15
    #expect(poll(&fixture, start.deviceCode).error == "authorization_pending")
    fixture.now += 14
    #expect(poll(&fixture, start.deviceCode).error == "slow_down")
  }

  @Test("A refused, an expired and an unknown code say so")
  func ends() throws {
    var fixture = ServerFixture()
    let denied = try start(&fixture)
    let isKnown = fixture.server.decideDevice(userCode: denied.userCode, allow: false, at: fixture.now)
    #expect(isKnown)
    #expect(poll(&fixture, denied.deviceCode).error == "access_denied")
    let expired = try start(&fixture)
    fixture.now += 600
    #expect(poll(&fixture, expired.deviceCode).error == "expired_token")
    let isLate = fixture.server.decideDevice(userCode: expired.userCode, allow: true, at: fixture.now)
    #expect(!isLate)
    #expect(poll(&fixture, "unknown").error == "invalid_grant")
  }

  @Test("The page takes code and login, then the decision", arguments: ["allow", "deny"])
  func page(decision: String) throws {
    var fixture = ServerFixture { $0.autoConsent = false }
    let start = try start(&fixture)
    #expect(fixture.get("/device?user_code=" + start.userCode).text.contains("value=\"\(start.userCode)\""))
    let wrong: KeyValuePairs = ["user_code": "AAAA-AAAA", "username": "alice", "password": "x"]
    #expect(fixture.post("/device", wrong).status == 403)
    let early: KeyValuePairs = ["user_code": start.userCode, "decision": "allow"]
    #expect(fixture.post("/device/consent", early).status == 400)
    let login: KeyValuePairs = ["user_code": start.userCode, "username": "alice", "password": "x"]
    let consent = fixture.post("/device", login)
    #expect(consent.text.contains("dev-tv"))
    let done = fixture.post(
      "/device/consent", ["user_code": consent.hidden("user_code"), "decision": decision])
    #expect(done.status == 200)
    let tokens = poll(&fixture, start.deviceCode)
    #expect(tokens.error == (decision == "allow" ? nil : "access_denied"))
  }

  @Test("With auto-consent the complete address is enough")
  func automatic() throws {
    var fixture = ServerFixture()
    let start = try start(&fixture)
    #expect(fixture.get("/device?user_code=" + start.userCode).text.contains("id=\"done\""))
    #expect(poll(&fixture, start.deviceCode).error == nil)
  }
}
