import AgentTestSupport
import AgentWire
import DevAuthorizationServer
import FoundationEssentials
import Sealing
import Testing
import TokenVault

@testable import AgentCore

/// What is sealed notes nobody as the lender's person: an earlier version agreed to it.
@Suite("A lender that was agreed to before its person was noted")
struct EarlierLendersTests {
  private static let company = LendingTests.company.changed { $0.scope = ["openid", "profile", "read"] }

  /// `api` is bound to `company`, and to nobody there.
  private func fixture(_ change: (inout GrantRecord) -> Void = { _ in }) async throws -> AgentFixture {
    let fixture = AgentFixture([Self.company, LendingTests.borrower()])
    try await fixture.logIn("company")
    try await LendingTests().logIn("api", fixture)
    for stored in try await fixture.store.loadAll() {
      let read = stored.payload.withBytes { try? JSONDecoder().decode(AccountRecord.self, from: Data($0)) }
      guard var record = read, record.name == "api" else { continue }
      record.grant?.binding.request?.lent?.subject.user = nil
      record.grant?.lenders = nil
      if var grant = record.grant {
        change(&grant)
        record.grant = grant
      }
      try await fixture.store.put(
        VaultRecord(id: stored.id, version: stored.version + 1, payload: Secret(try JSONEncoder().encode(record))))
    }
    return fixture
  }

  private func logIn(as user: String, _ fixture: AgentFixture) async throws {
    fixture.transport.withServer { $0.options.users = [user] }
    var request = LoginStart(requestID: user, account: "company")
    request.user = user
    let started = try await fixture.call(request)
    _ = try await fixture.follow(try await fixture.location(started))
    _ = try await fixture.call(LoginWait(loginID: started.loginID))
  }

  private func noted(_ fixture: AgentFixture) async -> String? {
    await fixture.service.grant(of: "api")?.binding.request?.lent?.subject.user?.who
  }

  @Test("it is bound to the person whose login has stood since, durably, and what it has is given on")
  func stands() async throws {
    let agent = try await fixture().restarted()
    let token = try await agent.call(TokenGet(account: "api")).accessToken
    try await eventually("it is noted") { await noted(agent) == "alice" }
    try await logIn(as: "bob", agent)
    for agent in [agent, agent.restarted()] {
      let failure = await agent.failure(TokenGet(account: "api"))
      #expect(failure?.kind == .definitionChanged)
      #expect(failure?.message.contains("as alice, and bob is logged in there now") == true)
    }
    #expect(agent.tokenRequests(LendingTests.exchanges) == 1)
    try await logIn(as: "alice", agent)
    #expect(try await agent.call(TokenGet(account: "api")).accessToken == token)
  }

  @Test("a login that came later may be another person's: nothing is given until somebody has agreed, once")
  func later() async throws {
    let before = try await fixture()
    before.clock.advance(by: 10)
    // By the earlier version, which compared nobody.
    let stored = try await before.store.loadAll()
    try await logIn(as: "bob", before)
    let records = try await before.store.loadAll()
    let store = MemoryStore(
      records.map { record in
        stored.first { $0.id == record.id && isOfAPI($0) } ?? record
      })
    let agent = before.restarted(store: store)
    for force in [false, true] {
      let failure = await agent.failure(TokenGet(account: "api", force: force))
      #expect(failure?.kind == .definitionChanged && failure?.message.contains("bob is logged in there now") == true)
    }
    let shown = try await agent.call(AccountAccept(account: "api", dryRun: true, login: true))
    #expect(shown.differences.map(\.now) == ["company, at http://127.0.0.1:8080, as bob"])
    try await LendingTests().logIn("api", agent)
    _ = try await agent.call(TokenGet(account: "api"))
    #expect(await noted(agent) == "bob")
    #expect(agent.tokenRequests(LendingTests.exchanges) == 2)
  }

  @Test("a wall clock proves nothing of another boot: the clock may have been wrong then, or set since")
  func otherBoot() async throws {
    let before = try await fixture {
      $0.loggedIn.bootID = "the one before"
      $0.loggedIn.wallSeconds += 1_000_000
    }
    try await logIn(as: "bob", before)
    let failure = await before.restarted().failure(TokenGet(account: "api"))
    #expect(failure?.kind == .definitionChanged && failure?.message.contains("bob is logged in there now") == true)
  }

  private func isOfAPI(_ stored: VaultRecord) -> Bool {
    stored.payload.withBytes { try? JSONDecoder().decode(AccountRecord.self, from: Data($0)) }?.name == "api"
  }
}
