import AgentTestSupport
import AgentWire
import DevAuthorizationServer
import Testing

@testable import AgentCore

extension CredentialService {
  /// When each account wakes that does, in boot seconds, soonest first.
  var wakes: [Double] { wakes() }
  /// Accounts that have a moment of their own, or that their server wakes.
  var awaitedCount: Int {
    accounts.values.count { account in
      plan[.account(account.name)] != nil || servers.all.contains { $0.parked.contains(account.name) }
    }
  }
  func wakes(but left: String? = nil) -> [Double] {
    accounts.keys.filter { $0 != left }.compactMap { plan[.account($0)] }.sorted()
  }
}

@Suite("Waking by plan")
struct WakingTests {
  private static let names = (0..<20).map { "a\($0)" }

  private static func definitions(but left: String? = nil) -> [AccountDefinition] {
    names.filter { $0 != left }.map { name in
      .browser.changed {
        $0.name = name
        $0.file = "/etc/accounts.d/\(name).toml"
        $0.keep = .always
      }
    }
  }

  private func fixture() async throws -> AgentFixture {
    let fixture = AgentFixture(Self.definitions())
    for name in Self.names { try await fixture.logIn(name) }
    return fixture
  }

  /// Waits until somebody sleeps until the first account wakes, and nobody else.
  private func sleepsUntilTheFirst(_ fixture: AgentFixture) async throws {
    try await eventually("one sleep serves all") {
      let first = await fixture.service.wakes.first
      return fixture.clock.wakes.count == 1 && first.map { abs($0 - fixture.clock.wakes[0]) < 0.01 } == true
    }
  }

  @Test("One sleep serves all accounts: it ends when the first is due, and the next begins")
  func oneSleep() async throws {
    let fixture = try await fixture()
    #expect(await fixture.service.wakes.count == Self.names.count)
    for round in 1...Self.names.count {
      try await sleepsUntilTheFirst(fixture)
      fixture.clock.advance(to: fixture.clock.wakes[0])
      try await eventually("the account that is due is refreshed") { fixture.refreshes >= round }
    }
    try await eventually("each once") { fixture.refreshes == Self.names.count }
  }

  @Test("Whoever gets an earlier moment is waited for, and who was first and leaves is not")
  func firstChanges() async throws {
    let fixture = try await fixture()
    try await sleepsUntilTheFirst(fixture)
    let first = try #require(await fixture.service.wakes(but: "a7").first)
    fixture.transport.withServer { $0.options.accessTokenLifeSeconds = 600 }
    _ = try await fixture.call(TokenGet(account: "a7", force: true))
    try await sleepsUntilTheFirst(fixture)
    #expect(fixture.clock.wakes[0] < first, "a7's new token has a shorter life")
    fixture.configuration.set(Self.definitions(but: "a7"))
    _ = try await fixture.call(ConfigReload())
    _ = try? await fixture.call(Logout(account: "a7"))
    try await sleepsUntilTheFirst(fixture)
    #expect(fixture.clock.wakes[0] == first)
  }
}
