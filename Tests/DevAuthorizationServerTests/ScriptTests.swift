import DevAuthorizationServer
import OAuthProtocol
import Testing

@Suite struct ScriptTests {
  @Test("A scripted answer leaves alone what the server keeps; after acting it does not")
  func answers() {
    var fixture = ServerFixture()
    let tokens = fixture.logIn()
    fixture.server.script(.token, .answer(status: 503, headers: [HTTPField("Retry-After", "3")], body: "<html>"))
    let first = fixture.refresh(tokens.refresh)
    #expect(first.status == 503)
    #expect(first.headers.value("Retry-After") == "3")
    #expect(first.text == "<html>")
    fixture.server.script(.token, .actThenAnswer(status: 500))
    #expect(fixture.refresh(tokens.refresh).status == 500)
    #expect(Tokens(fixture.refresh(tokens.refresh)).error == "invalid_grant")
  }

  @Test("Dropped answers: before acting the token stays good, after acting it is used up")
  func drops() {
    for (action, isUsed) in [(DevScript.Action.drop, false), (.actThenDrop, true), (.actThenCut(afterBytes: 20), true)]
    {
      var fixture = ServerFixture()
      let tokens = fixture.logIn()
      fixture.server.script(.token, action)
      let answer = fixture.refresh(tokens.refresh)
      guard case .sentNoAnswer = answer.outcome else {
        Issue.record("\(action) was answered")
        continue
      }
      #expect((fixture.refresh(tokens.refresh).status != 200) == isUsed)
      #expect(fixture.server.log.map(\.wasAnswered) == [true, true, false, true])
    }
  }

  @Test("Scripts are taken in order, by grant type where one is named")
  func order() {
    var fixture = ServerFixture()
    let tokens = fixture.logIn()
    fixture.server.script(
      .token, DevScript(.answer(status: 501), grantType: "refresh_token"), DevScript(.pass),
      DevScript(.answer(status: 502)))
    let machine: KeyValuePairs = [
      "grant_type": "client_credentials", "client_id": "dev-machine", "client_secret": "dev-machine-secret",
    ]
    #expect(fixture.post("/token", machine).status == 200)
    #expect(fixture.refresh(tokens.refresh).status == 501)
    #expect(fixture.post("/token", machine).status == 502)
    #expect(fixture.server.scriptsLeft(.token) == 0)
    fixture.server.script(.token, .drop, times: 5)
    fixture.server.clearScripts()
    #expect(fixture.refresh(tokens.refresh).status == 200)
  }

  @Test("As HTTP transport: foreign origins find nobody, refused connections are not sent")
  func transport() {
    var fixture = ServerFixture()
    func outcome(_ url: String) -> HTTPOutcome { fixture.server.respond(to: HTTPRequest(.get, url), at: 0).outcome }
    guard case .answered(let answer) = outcome("HTTP://127.0.0.1:8080/.well-known/openid-configuration#x") else {
      Issue.record("not answered")
      return
    }
    #expect(answer.status == 200)
    for url in ["http://127.0.0.1:8081/token", "https://127.0.0.1:8080/token", "/token", "http://127.0.0.1:80801/"] {
      guard case .notSent = outcome(url) else {
        Issue.record("\(url) was sent")
        continue
      }
    }
    fixture.server.script(.metadata, .refuse)
    guard case .notSent = outcome(ServerFixture.issuer + "/.well-known/openid-configuration") else {
      Issue.record("sent")
      return
    }
  }

  @Test("The log tells what came, without secrets, and forgets the oldest")
  func log() throws {
    var fixture = ServerFixture()
    let tokens = fixture.logIn()
    _ = fixture.refresh(tokens.refresh)
    let entry = try #require(fixture.server.log.last)
    #expect(entry.number == 3)
    #expect(entry.grantType == "refresh_token")
    #expect(entry.clientID == "dev")
    #expect(entry.status == 200)
    #expect(fixture.server.requests(to: .token) == 2)
    #expect(fixture.server.requests(to: .token, grantType: "refresh_token") == 1)
    let text = fixture.get("/_dev/log").text
    #expect(
      text.contains("\"endpoint\":\"token\",\"grant_type\":\"refresh_token\",\"client_id\":\"dev\",\"status\":200"))
    #expect(!text.contains(tokens.refresh))
    #expect(!text.contains("code_challenge"))
    for _ in 0..<DevAuthorizationServer.logLimit { _ = fixture.get("/nowhere") }
    #expect(fixture.server.log.count == DevAuthorizationServer.logLimit)
    #expect(fixture.server.log.last?.number == DevAuthorizationServer.logLimit + 3)
  }

  @Test("Delays are told, not waited")
  func delay() {
    var fixture = ServerFixture { $0.delayMilliseconds = [.token: 1_500] }
    #expect(fixture.refresh("x").delayMilliseconds == 1_500)
    #expect(fixture.get("/api/hello").delayMilliseconds == 0)
  }
}
