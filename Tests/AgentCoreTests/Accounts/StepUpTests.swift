import AgentTestSupport
import AgentWire
import Testing

@testable import AgentCore

@Suite("Step-up: a login that lacks what an API wants")
struct StepUpTests {
  private func failure(needed: [String], given: Set<String>, asked: Set<String>) -> AgentFailure? {
    StepUp.failure("work", needed: needed, given: given, asked: asked, host: "id.example")
  }

  @Test("a scope that was never asked for is told with the login that asks for it")
  func missing() {
    let failure = failure(needed: ["a", "b"], given: ["a"], asked: ["a"])
    #expect(failure?.kind == .loginRequired && failure?.missingScope == ["b"])
    #expect(failure?.hint == .run("oauthctl login work --add-scope b"))
    #expect(self.failure(needed: ["a"], given: ["a"], asked: []) == nil)
  }

  @Test("one that the server did not grant when it was asked for is not asked for in a circle")
  func circle() {
    let circle = failure(needed: ["b"], given: ["a"], asked: ["a", "b"])
    #expect(circle?.kind == .serverRefused && circle?.missingScope == ["b"])
    #expect(circle?.hint?.text.contains("--add-scope") == false)
    let both = failure(needed: ["b", "c"], given: ["a"], asked: ["a", "b"])
    #expect(both?.hint == .run("oauthctl login work --add-scope c") && both?.missingScope == ["b", "c"])
  }

  @Test("an API's words are words to a shell")
  func quoted() {
    #expect(
      StepUp.command("work", adding: ["$(reboot)", "a;b"])
        == "oauthctl login work --add-scope '$(reboot)' --add-scope 'a;b'")
  }

  @Test("needed_scope of token.get: given, missing, and out of bounds")
  func request() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    func asking(_ needed: [String]) -> TokenGet {
      var request = TokenGet(account: "work")
      request.neededScope = needed
      return request
    }
    let token = try await fixture.call(TokenGet(account: "work"))
    #expect(try await fixture.call(asking(["read"])).accessToken == token.accessToken)
    let failure = await fixture.failure(asking(["read", "admin"]))
    #expect(failure?.kind == .loginRequired && failure?.missingScope == ["admin"])
    for needed in [
      Array(repeating: "a", count: 33), [String(repeating: "a", count: 257)], ["a b"], [""], ["a\"b"],
    ] { #expect(await fixture.failure(asking(needed))?.kind == .badRequest) }
    #expect(try await fixture.call(TokenGet(account: "work")).accessToken == token.accessToken)
    #expect(fixture.refreshes == 0, "a scope that is missing refreshes nothing")
  }

  @Test("a scope that looks like a token is shown to nobody, whosever it was; those of Microsoft Entra are")
  func tokens() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    func failure(_ needed: String) async -> AgentFailure? {
      var request = TokenGet(account: "work")
      request.neededScope = [needed]
      return await fixture.failure(request)
    }
    for token in [
      "s8NLuG4GHZ-d1A1fsUx77Qd9t8RnJoY", "read:7Qd9t8RnJoYe77mDg0beHdk", "eyJhbGciOiJFZERTQSJ9.eyJpc3MiOiJo",
    ] {
      let refusal = await failure(token)
      #expect(refusal?.kind == .badRequest && refusal?.message.contains(token.suffix(12)) == false)
    }
    for scope in ["api://1b4e28ba-2fa1-11d2-883f-0016d3cca427/Files.ReadWrite", "repo:status", "Mail.ReadWrite.All"] {
      #expect(await failure(scope)?.missingScope == [scope])
    }
  }

  @Test("a refresh names what was granted where the account's file says so, and nothing else elsewhere")
  func refreshScope() async throws {
    for names in [false, true] {
      let definition = AccountDefinition.plain.with {
        $0.scope = ["read", "more", "offline_access"]
        $0.refreshNamesScope = names
      }
      let record = AccountRecord.expired().with { $0.grant?.askedScope = definition.scope }
      let driver = MachineDriver(record, definition)
      driver.ask()
      driver.saved()
      #expect(driver.sending?.scope == (names ? ["read", "offline_access"] : []))
    }
  }

  @Test("a refresh names Microsoft's .default without what it stood for")
  func defaultScope() throws {
    var grant = try #require(AccountRecord.expired().grant)
    grant.scope = ["https://api.example/user_impersonation", "https://api.example/.default"]
    grant.askedScope = ["https://api.example/.default", "offline_access"]
    #expect(grant.refreshScope == ["https://api.example/.default", "offline_access"])
  }
}
