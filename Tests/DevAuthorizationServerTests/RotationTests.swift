import DevAuthorizationServer
import Testing

@Suite struct RotationTests {
  @Test("Strict: every refresh gives a new refresh token, the old access token lives on")
  func strict() {
    var fixture = ServerFixture()
    let first = fixture.logIn()
    let second = Tokens(fixture.refresh(first.refresh))
    let third = Tokens(fixture.refresh(second.refresh))
    #expect(Set([first.refresh, second.refresh, third.refresh]).count == 3)
    #expect(third.scope == "read write")
    #expect(fixture.hello(first.access) == 200)
    #expect(fixture.hello(third.access) == 200)
  }

  @Test("Strict: reuse of a refresh token revokes the whole family")
  func reuse() {
    var fixture = ServerFixture()
    let first = fixture.logIn()
    let second = Tokens(fixture.refresh(first.refresh))
    let other = fixture.logIn()
    #expect(Tokens(fixture.refresh(first.refresh)).error == "invalid_grant")
    #expect(fixture.hello(second.access) == 401)
    #expect(Tokens(fixture.refresh(second.refresh)).error == "invalid_grant")
    #expect(fixture.hello(other.access) == 200)
    #expect(fixture.refresh(other.refresh).status == 200)
  }

  @Test(
    "Grace: an old refresh token works so many seconds after its first use, then it revokes the family",
    arguments: [(0.0, true), (9.9, true), (10, true), (10.1, false)])
  func grace(wait: Double, works: Bool) {
    var fixture = ServerFixture { $0.rotation = .grace(seconds: 10) }
    let first = fixture.logIn()
    let second = Tokens(fixture.refresh(first.refresh))
    fixture.now += wait
    #expect((Tokens(fixture.refresh(first.refresh)).error == nil) == works)
    #expect((Tokens(fixture.refresh(second.refresh)).error == nil) == works)
  }

  @Test("Grace counts from the first use, not from the last")
  func graceDoesNotSlide() {
    var fixture = ServerFixture { $0.rotation = .grace(seconds: 10) }
    let first = fixture.logIn()
    var outcomes: [Bool] = []
    for _ in 0..<4 {
      outcomes.append(Tokens(fixture.refresh(first.refresh)).error == nil)
      fixture.now += 5
    }
    #expect(outcomes == [true, true, true, false])
  }

  @Test("None: the refresh token stays and answers leave it out")
  func none() {
    var fixture = ServerFixture { $0.rotation = .none }
    let first = fixture.logIn()
    for _ in 0..<3 {
      let next = Tokens(fixture.refresh(first.refresh))
      #expect(next.error == nil)
      #expect(next.refreshToken == nil)
    }
  }

  @Test("A refresh token expires, belongs to its client, and cannot widen the scope")
  func limits() {
    var fixture = ServerFixture { $0.refreshTokenLifeSeconds = 100 }
    let tokens = fixture.logIn()
    #expect(Tokens(fixture.refresh(tokens.refresh, clientID: "dev-tv")).error == "invalid_grant")
    let form: KeyValuePairs = [
      "grant_type": "refresh_token", "refresh_token": tokens.refresh, "client_id": "dev", "scope": "read email",
    ]
    #expect(Tokens(fixture.post("/token", form)).error == "invalid_scope")
    fixture.now += 99
    let narrowed = Tokens(
      fixture.post(
        "/token",
        ["grant_type": "refresh_token", "refresh_token": tokens.refresh, "client_id": "dev", "scope": "read"]))
    #expect(narrowed.scope == "read")
    fixture.now += 100
    #expect(Tokens(fixture.refresh(narrowed.refresh)).error == "invalid_grant")
  }

  @Test("A refresh may kill the access tokens before it")
  func refreshRevokes() {
    var fixture = ServerFixture { $0.refreshRevokesAccessTokens = true }
    let first = fixture.logIn()
    let second = Tokens(fixture.refresh(first.refresh))
    #expect(fixture.hello(first.access) == 401)
    #expect(fixture.hello(second.access) == 200)
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
