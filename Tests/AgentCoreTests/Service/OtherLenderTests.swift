import AgentTestSupport
import AgentWire
import DevAuthorizationServer
import Testing

@testable import AgentCore

@Suite("A lender that is another one than was agreed to")
struct OtherLenderTests {
  private let lending = LendingTests()

  @Test("a lender that is somebody else by now lends nothing until a person agrees")
  func otherIssuer() async throws {
    let fixture = try await lending.fixture()
    try await lending.logIn("api", fixture)
    fixture.clock.advance(by: 3_601)
    await fixture.service.pretend("company", isAt: "https://elsewhere.example")
    let failure = await fixture.failure(TokenGet(account: "api"))
    #expect(failure?.kind == .definitionChanged)
    #expect(failure?.hint?.text.hasPrefix("oauthctl login api") == true)
    #expect(fixture.tokenRequests(LendingTests.exchanges) == 1)
  }

  @Test("where somebody else is logged in at the lender by now, nothing is given or sent until a person agrees")
  func otherPerson() async throws {
    let openID = LendingTests.company.changed { $0.scope = ["openid", "profile", "read"] }
    let fixture = AgentFixture([openID, LendingTests.borrower()])
    try await fixture.logIn("company")
    try await lending.logIn("api", fixture)
    let token = try await fixture.call(TokenGet(account: "api")).accessToken
    fixture.transport.withServer { $0.options.users = ["bob"] }
    var request = LoginStart(requestID: "bob", account: "company")
    request.user = "bob"
    let started = try await fixture.call(request)
    _ = try await fixture.follow(try await fixture.location(started))
    let progress = try await fixture.call(LoginWait(loginID: started.loginID))
    #expect(progress.borrowers == ["api"] && progress.borrowersLeftOut == nil)
    let ready = await fixture.service.ready
    #expect(ready.token(for: "api", minimumValiditySeconds: nil, at: fixture.clock.now()) == nil)
    for force in [false, true] {
      let failure = await fixture.failure(TokenGet(account: "api", force: force))
      #expect(failure?.kind == .definitionChanged && failure?.hint?.text.hasPrefix("oauthctl login api") == true)
      #expect(failure?.message.contains("as alice, and bob is logged in there now") == true)
    }
    let summary = try await fixture.call(AccountShow(account: "api")).summary
    #expect(summary.state == .definitionChanged && summary.lenderChanged == true && summary.expiresAt == nil)
    let accepted = await fixture.failure(AccountAccept(account: "api", dryRun: true))
    #expect(accepted?.hint?.text.hasPrefix("oauthctl login api") == true, "its file has nothing to accept")
    // Over a restart, too: it follows from what is sealed.
    let again = fixture.restarted()
    #expect(await again.failure(TokenGet(account: "api"))?.kind == .definitionChanged)
    #expect(fixture.tokenRequests(LendingTests.exchanges) == 1)
    let refused = await again.failure(LoginStart(requestID: "three", account: "api"))
    #expect(refused?.kind == .definitionChanged && refused?.message.contains("subject_account") == true)
    try await lending.logIn("api", again)
    #expect(try await again.call(TokenGet(account: "api")).accessToken != token)
    #expect(fixture.tokenRequests(LendingTests.exchanges) == 2)
  }

  @Test("an account that is changed to another lender is sent nothing until it is agreed to")
  func otherLender() async throws {
    let fixture = try await lending.fixture()
    try await lending.logIn("api", fixture)
    fixture.clock.advance(by: 3_601)
    fixture.configuration.set([LendingTests.company, LendingTests.borrower(of: "other")])
    _ = try await fixture.call(ConfigReload())
    let failure = await fixture.failure(TokenGet(account: "api"))
    #expect(failure?.kind == .definitionChanged && failure?.message.contains("subject_account") == true)
  }
}

extension CredentialService {
  /// As after a login elsewhere, whose file is the same.
  fileprivate func pretend(_ name: String, isAt issuer: String) {
    guard let account = accounts[name], var record = account.machine.record else { return }
    record.grant?.binding.issuer = issuer
    var definition = account.machine.definition
    definition?.issuer = issuer
    definition?.hosts = ["http://127.0.0.1:8080"]
    let machine = AccountStateMachine("work", record: record, definition: definition)
    accounts[name] = Account(name, machine: machine, id: account.id, version: account.version)
  }
}
