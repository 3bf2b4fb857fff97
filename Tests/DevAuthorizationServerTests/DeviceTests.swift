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

  private func start(_ bench: inout Bench) throws -> Start {
    let answer = bench.post("/device_authorization", ["client_id": "dev-tv", "scope": "read"])
    return try JSONDecoder.snakeCase.decode(Start.self, from: Data(answer.body))
  }

  private func poll(_ bench: inout Bench, _ code: String, client: String = "dev-tv") -> Tokens {
    let grant = "urn:ietf:params:oauth:grant-type:device_code"
    return Tokens(bench.post("/token", ["grant_type": grant, "device_code": code, "client_id": client]))
  }

  @Test("The start tells codes, page, life and interval")
  func begins() throws {
    var bench = Bench()
    let start = try start(&bench)
    #expect(start.userCode.utf8.count == 9)
    #expect(start.verificationUri == Bench.issuer + "/device")
    #expect(start.verificationUriComplete == Bench.issuer + "/device?user_code=" + start.userCode)
    #expect(start.expiresIn == 600)
    #expect(start.interval == 5)
    #expect(Tokens(bench.post("/device_authorization", ["client_id": "dev-web"])).error == "invalid_client")
  }

  @Test("Polls are pending, then allowed, then used up")
  func allowed() throws {
    var bench = Bench()
    let start = try start(&bench)
    #expect(poll(&bench, start.deviceCode).error == "authorization_pending")
    bench.now += 5
    #expect(poll(&bench, start.deviceCode, client: "dev").error == "invalid_grant")
    let typed = start.userCode.lowercased().replacing("-", with: " ")
    let isKnown = bench.server.decideDevice(userCode: typed, allow: true, at: bench.now)
    #expect(isKnown)
    let tokens = poll(&bench, start.deviceCode)
    #expect(tokens.scope == "read")
    #expect(bench.hello(tokens.access) == 200)
    #expect(bench.refresh(tokens.refresh, clientID: "dev-tv").status == 200)
    bench.now += 5
    #expect(poll(&bench, start.deviceCode).error == "invalid_grant")
  }

  @Test("Each poll too early makes the interval five seconds longer, for good")
  func slowDown() throws {
    var bench = Bench()
    let start = try start(&bench)
    #expect(poll(&bench, start.deviceCode).error == "authorization_pending")
    bench.now += 4.9
    #expect(poll(&bench, start.deviceCode).error == "slow_down")
    bench.now += 9.9
    #expect(poll(&bench, start.deviceCode).error == "slow_down")
    bench.now += 15
    #expect(poll(&bench, start.deviceCode).error == "authorization_pending")
    bench.now += 14
    #expect(poll(&bench, start.deviceCode).error == "slow_down")
  }

  @Test("A refused, an expired and an unknown code say so")
  func ends() throws {
    var bench = Bench()
    let denied = try start(&bench)
    let isKnown = bench.server.decideDevice(userCode: denied.userCode, allow: false, at: bench.now)
    #expect(isKnown)
    #expect(poll(&bench, denied.deviceCode).error == "access_denied")
    let expired = try start(&bench)
    bench.now += 600
    #expect(poll(&bench, expired.deviceCode).error == "expired_token")
    let isLate = bench.server.decideDevice(userCode: expired.userCode, allow: true, at: bench.now)
    #expect(!isLate)
    #expect(poll(&bench, "unknown").error == "invalid_grant")
  }

  @Test("The page takes code and login, then the decision", arguments: ["allow", "deny"])
  func page(decision: String) throws {
    var bench = Bench { $0.autoConsent = false }
    let start = try start(&bench)
    #expect(bench.get("/device?user_code=" + start.userCode).text.contains("value=\"\(start.userCode)\""))
    let wrong: KeyValuePairs = ["user_code": "AAAA-AAAA", "username": "alice", "password": "x"]
    #expect(bench.post("/device", wrong).status == 403)
    let early: KeyValuePairs = ["user_code": start.userCode, "decision": "allow"]
    #expect(bench.post("/device/consent", early).status == 400)
    let login: KeyValuePairs = ["user_code": start.userCode, "username": "alice", "password": "x"]
    let consent = bench.post("/device", login)
    #expect(consent.text.contains("dev-tv"))
    let done = bench.post(
      "/device/consent", ["user_code": consent.hidden("user_code"), "decision": decision])
    #expect(done.status == 200)
    let tokens = poll(&bench, start.deviceCode)
    #expect(tokens.error == (decision == "allow" ? nil : "access_denied"))
  }

  @Test("With auto-consent the complete address is enough")
  func automatic() throws {
    var bench = Bench()
    let start = try start(&bench)
    #expect(bench.get("/device?user_code=" + start.userCode).text.contains("id=\"done\""))
    #expect(poll(&bench, start.deviceCode).error == nil)
  }
}
