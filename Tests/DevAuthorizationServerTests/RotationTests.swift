import DevAuthorizationServer
import Testing

@Suite struct RotationTests {
  @Test("Strict: every refresh gives a new refresh token, the old access token lives on")
  func strict() {
    var bench = Bench()
    let first = bench.logIn()
    let second = Tokens(bench.refresh(first.refresh))
    let third = Tokens(bench.refresh(second.refresh))
    #expect(Set([first.refresh, second.refresh, third.refresh]).count == 3)
    #expect(third.scope == "read write")
    #expect(bench.hello(first.access) == 200)
    #expect(bench.hello(third.access) == 200)
  }

  @Test("Strict: reuse of a refresh token revokes the whole family")
  func reuse() {
    var bench = Bench()
    let first = bench.logIn()
    let second = Tokens(bench.refresh(first.refresh))
    let other = bench.logIn()
    #expect(Tokens(bench.refresh(first.refresh)).error == "invalid_grant")
    #expect(bench.hello(second.access) == 401)
    #expect(Tokens(bench.refresh(second.refresh)).error == "invalid_grant")
    #expect(bench.hello(other.access) == 200)
    #expect(bench.refresh(other.refresh).status == 200)
  }

  @Test(
    "Grace: an old refresh token works so many seconds after its first use, then it revokes the family",
    arguments: [(0.0, true), (9.9, true), (10, true), (10.1, false)])
  func grace(wait: Double, works: Bool) {
    var bench = Bench { $0.rotation = .grace(seconds: 10) }
    let first = bench.logIn()
    let second = Tokens(bench.refresh(first.refresh))
    bench.now += wait
    #expect((Tokens(bench.refresh(first.refresh)).error == nil) == works)
    #expect((Tokens(bench.refresh(second.refresh)).error == nil) == works)
  }

  @Test("Grace counts from the first use, not from the last")
  func graceDoesNotSlide() {
    var bench = Bench { $0.rotation = .grace(seconds: 10) }
    let first = bench.logIn()
    var outcomes: [Bool] = []
    for _ in 0..<4 {
      outcomes.append(Tokens(bench.refresh(first.refresh)).error == nil)
      bench.now += 5
    }
    #expect(outcomes == [true, true, true, false])
  }

  @Test("None: the refresh token stays and answers leave it out")
  func none() {
    var bench = Bench { $0.rotation = .none }
    let first = bench.logIn()
    for _ in 0..<3 {
      let next = Tokens(bench.refresh(first.refresh))
      #expect(next.error == nil)
      #expect(next.refreshToken == nil)
    }
  }

  @Test("A refresh token expires, belongs to its client, and cannot widen the scope")
  func limits() {
    var bench = Bench { $0.refreshTokenLifeSeconds = 100 }
    let tokens = bench.logIn()
    #expect(Tokens(bench.refresh(tokens.refresh, clientID: "dev-tv")).error == "invalid_grant")
    let form: KeyValuePairs = [
      "grant_type": "refresh_token", "refresh_token": tokens.refresh, "client_id": "dev", "scope": "read email",
    ]
    #expect(Tokens(bench.post("/token", form)).error == "invalid_scope")
    bench.now += 99
    let narrowed = Tokens(
      bench.post(
        "/token",
        ["grant_type": "refresh_token", "refresh_token": tokens.refresh, "client_id": "dev", "scope": "read"]))
    #expect(narrowed.scope == "read")
    bench.now += 100
    #expect(Tokens(bench.refresh(narrowed.refresh)).error == "invalid_grant")
  }

  @Test("A refresh may kill the access tokens before it")
  func refreshRevokes() {
    var bench = Bench { $0.refreshRevokesAccessTokens = true }
    let first = bench.logIn()
    let second = Tokens(bench.refresh(first.refresh))
    #expect(bench.hello(first.access) == 401)
    #expect(bench.hello(second.access) == 200)
  }

  @Test(
    "Rotation is read from text",
    arguments: [
      ("strict", .strict), ("none", DevRotation.none), ("grace=2.5", .grace(seconds: 2.5)), ("grace=-1", nil),
      ("grace=", nil), ("grace=nan", nil), ("Strict", nil), ("", nil),
    ] as [(String, DevRotation?)])
  func text(text: String, rotation: DevRotation?) {
    #expect(DevRotation(text) == rotation)
  }
}
