import AgentTestSupport
import AgentWire
import DevAuthorizationServer
import HTTPTerms
import OAuthProtocol
import Sealing
import Testing

@testable import AgentCore

@Suite("A login that ends as somebody else than the one before")
struct OtherUserTests {
  private static let openID = AccountDefinition.browser.changed { $0.scope = ["openid", "profile", "email", "read"] }

  /// Logged in as alice; the next login will be bob's.
  private func loggedIn() async throws -> AgentFixture {
    let fixture = AgentFixture([Self.openID])
    try await fixture.logIn()
    fixture.transport.withServer { $0.options.users = ["bob"] }
    return fixture
  }

  private func start(
    _ fixture: AgentFixture, _ change: (inout LoginStart) -> Void = { _ in }
  ) async throws -> LoginStarted {
    var request = LoginStart(requestID: "two", account: "work")
    change(&request)
    return try await fixture.call(request)
  }

  private func who(_ fixture: AgentFixture) async throws -> String? {
    try await fixture.call(AccountShow(account: "work")).summary.who
  }

  @Test("without anybody to ask it is refused, and the one before stays")
  func refused() async throws {
    let fixture = try await loggedIn()
    let token = try await fixture.call(TokenGet(account: "work")).accessToken
    let started = try await start(fixture)
    _ = try await fixture.follow(try await fixture.location(started))
    let failure = await fixture.failure(LoginWait(loginID: started.loginID))
    #expect(failure?.kind == .loginCancelled && failure?.message.contains("bob") == true)
    #expect(try await who(fixture) == "alice")
    #expect(try await fixture.call(TokenGet(account: "work")).accessToken == token)
    #expect(fixture.transport.withServer { $0.requests(to: .revoke) } == 1, "bob's tokens are not left alive")
  }

  /// The question stands, and the browser has been told so: nobody has to answer for it to get its page.
  private func question(_ fixture: AgentFixture) async throws -> LoginStarted {
    let started = try await start(fixture) { $0.confirmsUser = true }
    #expect(try await fixture.follow(try await fixture.location(started)) == .asked)
    let id = started.loginID
    try await eventually("the question stands") { await fixture.logins.questions[id] != nil }
    let progress = await fixture.logins.sessions[id]?.progress
    #expect(progress?.state == .pending && progress?.otherUser == OtherUser(was: "alice", now: "bob"))
    #expect(try await who(fixture) == "alice", "nothing is replaced before the answer")
    return started
  }

  @Test("two people of one name are told apart by what the server knows them as, which stands before the name")
  func sameName() throws {
    func record(_ subject: String, _ claims: [String: String]) throws -> IdentityRecord {
      let all = ["iss": #""https://id""#, "aud": #""c""#, "sub": "\"\(subject)\"", "exp": "2", "iat": "1"].merging(
        claims
      ) { $1 }
      let json = "{" + all.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
      let parts = [#"{"alg":"ES256"}"#, json].map { Base64URL.encode(Array($0.utf8)) }
      return IdentityRecord(try IDToken(Secret(parts.joined(separator: ".") + ".c2ln")), hiding: RequestSecrets([]))
    }
    let address = #""alice@corp.example""#
    let alice = try record("1001", ["email": address, "email_verified": "true"])
    #expect(alice.whoBySubject == "id 1001, alice@corp.example" && alice.who == "alice@corp.example")
    for claims in [["email": address, "email_verified": "false"], ["name": address]] {
      #expect(try record("6666", claims).whoBySubject == "id 6666, alice@corp.example (not verified)")
    }
    #expect(try record("6666", ["preferred_username": address]).whoBySubject == "id 6666, alice@corp.example")
    #expect(try record("6666", [:]).whoBySubject == "6666")
    var old = alice
    old.shownSubject = nil
    #expect(old.whoBySubject == alice.whoBySubject, "a record from before it was kept")
  }

  @Test("a person who agrees has it replaced")
  func agreed() async throws {
    let fixture = try await loggedIn()
    let started = try await question(fixture)
    let progress = try await fixture.call(LoginConfirm(loginID: started.loginID))
    #expect(progress.state == .complete && progress.user == "bob")
    #expect(try await who(fixture) == "bob")
    #expect(try await fixture.call(LoginConfirm(loginID: started.loginID)).state == .complete, "it can be repeated")
  }

  @Test("while a person is asked it makes no place for another login, until nobody has asked about it for some seconds")
  func attended() async throws {
    let fixture = try await loggedIn()
    let started = try await question(fixture)
    let id = started.loginID
    let gone = Task { await fixture.failure(LoginWait(loginID: id, timeoutMilliseconds: 60_000)) }
    try await eventually("another one waits") { await fixture.logins.isWaitedFor(id) }
    gone.cancel()
    _ = await gone.value
    var other = LoginStart(requestID: "three", account: "work")
    other.prompt = "login"
    // One has left, and the other is asked.
    #expect(await fixture.failure(other)?.kind == .loginPending)
    fixture.clock.advance(by: LoginSession.questionPause - 1)
    let asks = Task { try await fixture.call(LoginWait(loginID: id)) }
    try await fixture.clock.sleepers(until: 1)
    fixture.clock.advance(by: 1)
    #expect(try await asks.value.otherUser != nil)
    fixture.clock.advance(by: LoginSession.questionPause)
    #expect(await fixture.failure(other)?.kind == .loginPending)
    // The other one is killed.
    fixture.clock.advance(by: 1)
    #expect(try await fixture.call(other).loginID != id)
    try await eventually("it is revoked") { fixture.transport.withServer { $0.requests(to: .revoke) } == 1 }
  }

  @Test("a no and the end of its time leave the one before, and revoke the other")
  func ended() async throws {
    for end in ["cancel", "time"] {
      let fixture = try await loggedIn()
      let started = try await question(fixture)
      if end == "cancel" {
        _ = try await fixture.call(LoginCancel(loginID: started.loginID))
      } else {
        fixture.clock.advance(by: 301)
      }
      #expect(await fixture.failure(LoginWait(loginID: started.loginID))?.kind == .loginCancelled, "\(end)")
      #expect(try await who(fixture) == "alice", "\(end)")
      try await eventually("it is revoked") { fixture.transport.withServer { $0.requests(to: .revoke) } == 1 }
    }
  }

  @Test("whoever is expected needs no question, and nobody else is taken")
  func expected() async throws {
    for (user, isBob) in [("bob", true), ("BOB@dev.example", true), ("alice", false), ("carol", false)] {
      let fixture = try await loggedIn()
      let started = try await start(fixture) { $0.user = user }
      _ = try await fixture.follow(try await fixture.location(started))
      let failure = await fixture.failure(LoginWait(loginID: started.loginID))
      #expect((failure == nil) == isBob, "\(user): \(String(describing: failure))")
      #expect(try await who(fixture) == (isBob ? "bob" : "alice"))
    }
  }

  @Test("a name that two people have is no leave to replace the one by the other; the id is")
  func sameExpectedName() async throws {
    for (user, isTaken) in [("alice", false), ("bob", true)] {
      let fixture = try await loggedIn()
      fixture.transport.withServer { $0.options.idTokenClaims = ["preferred_username": "alice"] }
      let started = try await start(fixture) { $0.user = user }
      _ = try await fixture.follow(try await fixture.location(started))
      let failure = await fixture.failure(LoginWait(loginID: started.loginID))
      #expect((failure == nil) == isTaken)
      #expect(isTaken || failure?.hint == "if this one is meant, name the id: oauthctl login work --user ID")
    }
  }

  @Test(
    "nobody is expected where no server could say who it is, before a browser opens; who it is stays in the next step")
  func unknown() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    var request = LoginStart(requestID: "two", account: "work")
    request.user = "alice o"
    let failure = await fixture.failure(request)
    #expect(failure?.hint == .run("oauthctl login work --add-scope openid --user 'alice o'"))
    #expect(failure?.kind == .badRequest && fixture.redirects.open.isEmpty)
  }

  @Test("wishes reach the authorization request in place of the file's, and their bounds hold")
  func wishes() async throws {
    let definition = Self.openID.changed {
      $0.username = "alice"
      $0.authorizeParameters = ["prompt": "consent"]
    }
    let fixture = AgentFixture([definition])
    let started = try await start(fixture) {
      $0.prompt = "login select_account"
      $0.maximumAgeSeconds = 60
      $0.loginHint = "al@x"
    }
    let url = try #require(started.authorizationURL)
    for part in ["prompt=login+select_account", "max_age=60", "login_hint=al%40x"] {
      #expect(url.contains(part) || url.contains(part.replacing("+", with: "%20")), "\(url)")
    }
    let other = await fixture.failure(LoginStart(requestID: "three", account: "work", device: nil))
    #expect(other == nil, "whoever wishes nothing joins")
    var different = LoginStart(requestID: "four", account: "work")
    different.user = "alice"
    #expect(await fixture.failure(different)?.kind == .loginPending)
    let changes: [(inout LoginStart) -> Void] = [
      { $0.prompt = "none login" }, { $0.prompt = "" }, { $0.prompt = "create" }, { $0.prompt = "login login" },
      { $0.maximumAgeSeconds = -1 }, { $0.user = "" }, { $0.loginHint = "a\nb" },
      { $0.user = String(repeating: "a", count: 321) },
    ]
    for change in changes {
      var request = LoginStart(requestID: "five", account: "work")
      change(&request)
      #expect(await fixture.failure(request)?.kind == .badRequest)
    }
  }

  @Test(
    "one whom the server no longer names counts as another, where a browser brought the code and openid was asked for")
  func unnamed() async throws {
    let withoutNonce: [String: String?] = ["nonce": nil]
    for isNamed in [false, true] {
      let fixture = AgentFixture([Self.openID])
      fixture.transport.withServer { if !isNamed { $0.options.idTokenClaims = withoutNonce } }
      try await fixture.logIn()
      fixture.transport.withServer { $0.options.idTokenClaims = withoutNonce }
      let started = try await start(fixture)
      _ = try await fixture.follow(try await fixture.location(started))
      let failure = await fixture.failure(LoginWait(loginID: started.loginID))
      #expect((failure?.kind == .loginCancelled) == isNamed, "whoever was never named replaces nobody")
      #expect(!isNamed || failure?.message.contains("ended as somebody unnamed, and the one before it is ") == true)
      guard isNamed else { continue }
      #expect(try await who(fixture) == "alice")
      let asked = try await start(fixture) {
        $0.requestID = "three"
        $0.confirmsUser = true
      }
      #expect(try await fixture.follow(try await fixture.location(asked)) == .asked)
      try await eventually("the question stands") { await fixture.logins.questions[asked.loginID] != nil }
      #expect(try await fixture.call(LoginConfirm(loginID: asked.loginID)).state == .complete)
      #expect(try await who(fixture) == nil)
    }
  }

  @Test("a session older than max_age is no login")
  func tooOld() async throws {
    let fixture = AgentFixture([Self.openID])
    fixture.transport.withServer { $0.options.sessionAgeSeconds = 10_000 }
    let started = try await start(fixture) { $0.maximumAgeSeconds = 60 }
    _ = try await fixture.follow(try await fixture.location(started))
    #expect(await fixture.failure(LoginWait(loginID: started.loginID))?.kind == .serverRefused)
    #expect(fixture.store.count == 0)
  }
}
