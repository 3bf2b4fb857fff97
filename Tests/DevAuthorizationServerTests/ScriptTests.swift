import DevAuthorizationServer
import OAuthProtocol
import Testing

@Suite struct ScriptTests {
  @Test("A scripted answer leaves alone what the server keeps; after acting it does not")
  func answers() {
    var bench = Bench()
    let tokens = bench.logIn()
    bench.server.script(.token, .answer(status: 503, headers: [HTTPField("Retry-After", "3")], body: "<html>"))
    let first = bench.refresh(tokens.refresh)
    #expect(first.status == 503)
    #expect(first.headers.value("Retry-After") == "3")
    #expect(first.text == "<html>")
    bench.server.script(.token, .actThenAnswer(status: 500))
    #expect(bench.refresh(tokens.refresh).status == 500)
    #expect(Tokens(bench.refresh(tokens.refresh)).error == "invalid_grant")
  }

  @Test("Dropped answers: before acting the token stays good, after acting it is used up")
  func drops() {
    for (action, isUsed) in [(DevScript.Action.drop, false), (.actThenDrop, true), (.actThenCut(afterBytes: 20), true)]
    {
      var bench = Bench()
      let tokens = bench.logIn()
      bench.server.script(.token, action)
      let answer = bench.refresh(tokens.refresh)
      guard case .sentNoAnswer = answer.outcome else {
        Issue.record("\(action) was answered")
        continue
      }
      #expect((bench.refresh(tokens.refresh).status != 200) == isUsed)
      #expect(bench.server.log.map(\.wasAnswered) == [true, true, false, true])
    }
  }

  @Test("Scripts are taken in order, by grant type where one is named")
  func order() {
    var bench = Bench()
    let tokens = bench.logIn()
    bench.server.script(
      .token, DevScript(.answer(status: 501), grantType: "refresh_token"), DevScript(.pass),
      DevScript(.answer(status: 502)))
    let machine: KeyValuePairs = [
      "grant_type": "client_credentials", "client_id": "dev-machine", "client_secret": "dev-machine-secret",
    ]
    #expect(bench.post("/token", machine).status == 200)
    #expect(bench.refresh(tokens.refresh).status == 501)
    #expect(bench.post("/token", machine).status == 502)
    #expect(bench.server.scriptsLeft(.token) == 0)
    bench.server.script(.token, .drop, times: 5)
    bench.server.clearScripts()
    #expect(bench.refresh(tokens.refresh).status == 200)
  }

  @Test("As HTTP transport: foreign origins find nobody, refused connections are not sent")
  func transport() {
    var bench = Bench()
    func outcome(_ url: String) -> HTTPOutcome { bench.server.respond(to: HTTPRequest(.get, url), at: 0).outcome }
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
    bench.server.script(.metadata, .refuse)
    guard case .notSent = outcome(Bench.issuer + "/.well-known/openid-configuration") else {
      Issue.record("sent")
      return
    }
  }

  @Test("The log tells what came, without secrets, and forgets the oldest")
  func log() throws {
    var bench = Bench()
    let tokens = bench.logIn()
    _ = bench.refresh(tokens.refresh)
    let entry = try #require(bench.server.log.last)
    #expect(entry.number == 3)
    #expect(entry.grantType == "refresh_token")
    #expect(entry.clientID == "dev")
    #expect(entry.status == 200)
    #expect(bench.server.requests(to: .token) == 2)
    #expect(bench.server.requests(to: .token, grantType: "refresh_token") == 1)
    let text = bench.get("/_dev/log").text
    #expect(
      text.contains("\"endpoint\":\"token\",\"grant_type\":\"refresh_token\",\"client_id\":\"dev\",\"status\":200"))
    #expect(!text.contains(tokens.refresh))
    #expect(!text.contains("code_challenge"))
    for _ in 0..<DevAuthorizationServer.logLimit { _ = bench.get("/nowhere") }
    #expect(bench.server.log.count == DevAuthorizationServer.logLimit)
    #expect(bench.server.log.last?.number == DevAuthorizationServer.logLimit + 3)
  }

  @Test("Delays are told, not waited")
  func delay() {
    var bench = Bench { $0.delayMilliseconds = [.token: 1_500] }
    #expect(bench.refresh("x").delayMilliseconds == 1_500)
    #expect(bench.get("/api/hello").delayMilliseconds == 0)
  }
}
