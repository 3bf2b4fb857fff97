import AgentCore
import AgentTestSupport
import AgentWire
import DevAuthorizationServer
import OAuthProtocol
import Testing
import TokenVault

@Suite("Logout")
struct LogoutTests {
  @Test("logout revokes at the server and forgets; the ready path is empty before it is answered")
  func logout() async throws {
    let fixture = try await AgentFixture.loggedIn()
    let token = try await fixture.call(TokenGet(account: "work")).accessToken
    #expect(try await fixture.call(Logout(account: "work")).revocation == .revoked)
    #expect(!(await fixture.isGood(token)))
    #expect(fixture.ready.token(for: "work", minimumValiditySeconds: nil, at: fixture.clock.now()) == nil)
    #expect(await fixture.failure(TokenGet(account: "work"))?.kind == .loginRequired)
    #expect(try await fixture.call(Logout(account: "work")).revocation == LogoutAnswer.Revocation.none)
    #expect(try await fixture.logIn(request: "two").state == .complete)
  }

  @Test("a revocation that fails is answered as pending, kept over a restart, and done later")
  func logoutLater() async throws {
    let fixture = try await AgentFixture.loggedIn()
    let token = try await fixture.call(TokenGet(account: "work")).accessToken
    fixture.transport.withServer { $0.script(.revoke, .answer(status: 503)) }
    #expect(try await fixture.call(Logout(account: "work")).revocation == .pending)
    #expect(await fixture.isGood(token))
    let again = try await fixture.call(Logout(account: "work"))
    #expect(again.revocation == .pending && again.reason?.contains("503") == true)
    fixture.configuration.set([])
    await fixture.service.drain(seconds: 1)
    let restarted = fixture.restarted()
    _ = try await restarted.call(AccountList())
    try await eventually("the revocation is done") { !(await fixture.isGood(token)) }
    try await eventually("the access token is told, too") {
      fixture.transport.withServer { $0.requests(to: .revoke) } == 3
    }
    await restarted.service.idle(seconds: 60)
    let last = fixture.transport.withServer { $0.requests(to: .revoke) }
    _ = try await fixture.restarted().call(AccountList())
    #expect(fixture.transport.withServer { $0.requests(to: .revoke) } == last, "and not once more")
  }

  @Test("a revocation that gets no answer: logout waits ten seconds and says pending")
  func logoutSlow() async throws {
    let fixture = try await AgentFixture.loggedIn()
    fixture.transport.withServer { $0.options.delayMilliseconds[.revoke] = 25_000 }
    async let answer = fixture.call(Logout(account: "work"))
    try await fixture.clock.sleepers(until: 10)
    fixture.clock.advance(by: 10)
    #expect(try await answer.revocation == .pending)
  }

  @Test("logout revokes the access tokens, too, and says which may live on")
  func logoutAccessTokens() async throws {
    let fixture = try await AgentFixture.loggedIn()
    fixture.transport.withServer {
      $0.script(.revoke, .pass)
      $0.script(.revoke, .answer(status: 400, body: #"{"error":"unsupported_token_type"}"#))
    }
    let answer = try await fixture.call(Logout(account: "work"))
    #expect(answer.revocation == .revoked)
    #expect(answer.reason?.hasPrefix("but an access token may live on for 3600 s more at most:") == true)
    #expect(fixture.transport.withServer { $0.requests(to: .revoke) } == 2)
    #expect(try await fixture.call(AccountShow(account: "work")).summary.state == .new)
  }

  @Test("a public client that may not revoke is told so for good, and is asked for no secret")
  func logoutPublic() async throws {
    let fixture = try await AgentFixture.loggedIn()
    for _ in 0..<2 {
      fixture.transport.withServer { $0.script(.revoke, .answer(status: 401, body: #"{"error":"invalid_client"}"#)) }
    }
    let answer = try await fixture.call(Logout(account: "work"))
    #expect(answer.revocation == .refused)
    #expect(answer.reason?.contains("clients with a secret only") == true)
    #expect(answer.reason?.contains("oauthctl secret set") == false)
    #expect(try await fixture.call(Logout(account: "work")) == answer, "it is as true when it is asked again")
    await fixture.service.idle(seconds: 60)
    let sent = fixture.transport.withServer { $0.requests(to: .revoke) }
    fixture.clock.advance(by: 7_200)
    _ = try await fixture.restarted().call(AccountList())
    #expect(fixture.transport.withServer { $0.requests(to: .revoke) } == sent, "nothing stays pending")
  }

  @Test("a server without a revocation endpoint is told as unsupported")
  func logoutUnsupported() async throws {
    let fixture = try await AgentFixture.loggedIn(
      .browser.changed {
        $0.authorizationEndpoint = "http://127.0.0.1:8080/authorize"
        $0.tokenEndpoint = "http://127.0.0.1:8080/token"
      })
    #expect(try await fixture.call(Logout(account: "work")).revocation == .unsupported)
  }

  @Test("a logout during a refresh waits for it, and revokes what it gave")
  func logoutDuringRefresh() async throws {
    let fixture = try await AgentFixture.loggedIn()
    fixture.transport.withServer { $0.options.delayMilliseconds[.token] = 5_000 }
    fixture.clock.advance(by: 3_601)
    async let token = fixture.call(TokenGet(account: "work"))
    try await fixture.clock.sleepers(until: 5)
    async let answer = fixture.call(Logout(account: "work"))
    for _ in 0..<50 { await Task.yield() }
    fixture.clock.advance(by: 5)
    // A caller that goes on before the logout has one, which is revoked then; behind it there is none.
    let given = try? await token.accessToken
    #expect(try await answer.revocation == .revoked)
    if let given { #expect(!(await fixture.isGood(given))) }
    #expect(fixture.transport.withServer { $0.requests(to: .revoke) } > 0)
  }
}
