import AgentTestSupport
import AgentWire
import DevAuthorizationServer
import OAuthProtocol
import Testing

@testable import AgentCore

@Suite("Who has logged in: the judgement at a login")
struct LoginIdentityTests {
  private static let openID = AccountDefinition.browser.changed { $0.scope = ["openid", "profile", "read"] }

  private func who(_ fixture: AgentFixture) async throws -> String? {
    try await fixture.call(AccountShow(account: "work")).summary.who
  }

  /// What a login ends with where ID tokens have these claims.
  private func login(_ claims: [String: String?]) async throws -> (AgentFixture, Result<LoginProgress, AgentFailure>) {
    let fixture = AgentFixture([Self.openID])
    fixture.transport.withServer { $0.options.idTokenClaims = claims }
    let started = try await fixture.start()
    _ = try await fixture.follow(try await fixture.location(started))
    do { return (fixture, .success(try await fixture.call(LoginWait(loginID: started.loginID)))) } catch {
      return (fixture, .failure(error))
    }
  }

  @Test("a login with openid tells who it is, over a restart and a refresh too")
  func known() async throws {
    let fixture = AgentFixture([Self.openID])
    let progress = try await fixture.logIn()
    #expect(progress.user == "alice" && progress.hint == nil)
    #expect(try await who(fixture) == "alice")
    _ = try await fixture.call(TokenGet(account: "work", force: true))
    #expect(fixture.refreshes == 1)
    let restarted = fixture.restarted()
    #expect(try await who(restarted) == "alice")
    #expect(try await restarted.call(AgentStatus()).accounts.first?.who == "alice")
  }

  @Test("where people have no name there, their sub is told; without openid nothing is")
  func named() async throws {
    let plain = AgentFixture([Self.openID.changed { $0.scope = ["openid"] }])
    #expect(try await plain.logIn().user == nil)
    #expect(try await who(plain) == "alice")
    let without = AgentFixture()
    try await without.logIn()
    #expect(try await who(without) == nil)
  }

  @Test("the ID token of another login, client or issuer ends the login, and its tokens are revoked")
  func strangers() async throws {
    for claims in [["nonce": "another"], ["aud": "other"], ["iss": "https://evil.example"], ["azp": "other"]] {
      let (fixture, end) = try await login(claims)
      guard case .failure(let failure) = end else {
        Issue.record("\(claims): logged in")
        continue
      }
      #expect(failure.kind == .serverRefused && failure.message.contains("ID token"), "\(failure)")
      #expect(fixture.store.count == 0, "\(claims)")
      #expect(fixture.transport.withServer { $0.requests(to: .revoke) } == 1, "\(claims)")
    }
  }

  @Test("an ID token that says nothing of use costs no login, and that is told")
  func useless() async throws {
    for claims: [String: String?] in [["nonce": nil], ["sub": nil], ["exp": "soon"], ["at_hash": "another"]] {
      let (fixture, end) = try await login(claims)
      let progress = try end.get()
      #expect(progress.user == nil && progress.hint?.contains("who has logged in is not known") == true)
      #expect(try await who(fixture) == nil)
    }
  }

  @Test("the server's clock counts, not this machine's")
  func clock() async throws {
    let fixture = AgentFixture([Self.openID])
    fixture.transport.withServer { $0.options.clockSkewSeconds = -90_000 }
    #expect(try await fixture.logIn().user == "alice")
  }

  @Test("a refresh that names somebody else keeps the tokens, the name, and tells why")
  func changed() async throws {
    let fixture = AgentFixture([Self.openID])
    try await fixture.logIn()
    fixture.transport.withServer { $0.options.idTokenClaims = ["sub": "mallory"] }
    let token = try await fixture.call(TokenGet(account: "work", force: true))
    #expect(await fixture.isGood(token.accessToken))
    let details = try await fixture.call(AccountShow(account: "work"))
    #expect(details.summary.who == "alice")
    #expect(details.identityConcern?.contains("somebody else") == true)
  }

  @Test("token.id gives the ID token, and one that has ended is refreshed once")
  func idToken() async throws {
    let fixture = AgentFixture([Self.openID])
    fixture.transport.withServer { $0.options.idTokenLifeSeconds = 600 }
    try await fixture.logIn()
    let first = try await fixture.call(TokenID(account: "work"))
    #expect(first.subject == "alice" && first.issuer == "http://127.0.0.1:8080" && first.who == "alice")
    #expect(first.expiresInSeconds > 500 && first.idToken.split(separator: ".").count == 3)
    #expect(try await fixture.call(TokenID()).idToken == first.idToken && fixture.refreshes == 0)
    fixture.clock.advance(by: 600)
    let second = try await fixture.call(TokenID(account: "work"))
    #expect(second.idToken != first.idToken && second.expiresInSeconds > 500 && fixture.refreshes == 1)
  }

  @Test("where a refresh brings no other, an ID token that has ended asks for a login, and for no second refresh")
  func endedIDToken() async throws {
    let fixture = AgentFixture([Self.openID])
    fixture.transport.withServer {
      $0.options.idTokenLifeSeconds = 600
      $0.options.refreshGivesIDToken = false
    }
    try await fixture.logIn()
    fixture.clock.advance(by: 601)
    for _ in 0..<3 {
      let failure = await fixture.failure(TokenID(account: "work"))
      #expect(failure?.kind == .loginRequired && failure?.hint == .run("oauthctl login work"))
    }
    #expect(fixture.refreshes == 1)
  }

  @Test("without openid there is none, and the way to it is told")
  func noIDToken() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    let failure = await fixture.failure(TokenID(account: "work"))
    #expect(failure?.kind == .loginRequired && failure?.hint == .run("oauthctl login work --add-scope openid"))
    #expect(fixture.refreshes == 0)
  }
}
