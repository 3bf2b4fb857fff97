import AgentTestSupport
import AgentWire
import TokenVault
import Testing

@testable import AgentCore

@Suite("What is told first")
struct FileFirstTests {
  private static let other = AccountDefinition.browser.changed {
    ($0.name, $0.file) = ("x", "/etc/accounts.d/x.toml")
  }

  @Test("Of a login that is needed, by a file that is broken, the file")
  func broken() async throws {
    let fixture = AgentFixture([.browser])
    #expect(await fixture.failure(TokenGet(account: "work"))?.hint == .run("oauthctl login work"))
    let problem = ConfigurationProblem(file: "/etc/accounts.d/work.toml", line: 5, key: nil, reason: "not TOML")
    fixture.configuration.set([], problems: [problem])
    _ = try await fixture.call(ConfigReload())
    let failure = await fixture.failure(TokenGet(account: "work"))
    #expect(failure?.kind == .loginRequired)
    #expect(failure?.message.hasPrefix("work: /etc/accounts.d/work.toml:5: not TOML; login needed: ") == true)
    #expect(failure?.hint == .advice("\(ConfigurationProblem.edit.text); then: oauthctl login work"))
  }

  @Test("A login whose file is gone, where the only other account of the host has none to give")
  func gone() async throws {
    let before = AgentFixture([.browser, Self.other])
    try await before.logIn()
    before.configuration.set([Self.other])
    let fixture = before.restarted()
    for request in [TokenGet(url: "http://127.0.0.1:8080/x"), TokenGet()] {
      let failure = await fixture.failure(request)
      #expect(failure?.kind == .configInvalid && failure?.message.hasPrefix("work: its file is gone") == true)
    }
    #expect(await fixture.failure(TokenGet(account: "x"))?.hint == .run("oauthctl login x"), "it was named")
    try await fixture.logIn("x")
    #expect(try await fixture.call(TokenGet(url: "http://127.0.0.1:8080/x")).account == "x")
    for user in ["work", "somebody"] {
      let failure = await fixture.failure(TokenGet(url: "http://127.0.0.1:8080/x", username: user))
      #expect(failure?.message.hasPrefix("work: its file is gone") == true, "\(user) is not x")
    }
    #expect(try await fixture.call(TokenGet(url: "http://127.0.0.1:8080/x", username: "x")).account == "x")
    #expect(try await fixture.call(TokenGet(url: "http://127.0.0.1:8080/x", username: "oauth2")).account == "x")
  }

  @Test("Of several that are not logged in, too")
  func goneAmongSeveral() async throws {
    let third = Self.other.changed { $0.name = "y" }
    let before = AgentFixture([.browser, Self.other, third])
    try await before.logIn()
    before.configuration.set([Self.other, third])
    let failure = await before.restarted().failure(TokenGet(url: "http://127.0.0.1:8080/x"))
    #expect(failure?.message.hasPrefix("work: its file is gone") == true)
  }

  @Test("A disk without room is named by every failure that comes of it")
  func noRoom() async throws {
    let full = VaultError.noRoom(folder: "/v", "no room on the disk of vault.db")
    let fixture = AgentFixture([.browser])
    try await fixture.logIn()
    fixture.store.fail(put: 1, with: full)
    #expect(await fixture.failure(TokenGet(account: "work", force: true))?.hint == "make room at /v")
    let later = await fixture.failure(TokenGet(account: "work", force: true))
    #expect(later?.hint == "make room at /v; the agent tries again by itself")
    #expect(try await fixture.call(AccountList()).accounts.first?.nextStep == later?.hint)
  }

  @Test("A vault that could not be unlocked for want of room is told with that, until it is")
  func noRoomToUnlock() async throws {
    let fixture = AgentFixture([.browser])
    try await fixture.logIn()
    _ = try await fixture.call(VaultLock())
    #expect(await fixture.failure(TokenGet(account: "work")) == .vaultLocked)
    fixture.vault.fail(unlock: AgentFailure(VaultError.noRoom(folder: "/v", "no room")))
    #expect(await fixture.failure(VaultUnlock())?.hint == "make room at /v")
    let failure = await fixture.failure(TokenGet(account: "work"))
    #expect(failure?.kind == .vaultLocked && failure?.message.hasSuffix(": no room") == true)
    #expect(failure?.hint == "make room at /v; then: oauthctl vault unlock")
    #expect(try await fixture.call(AgentStatus()).vault.nextStep == failure?.hint)
    fixture.vault.fail(unlock: nil)
    _ = try await fixture.call(VaultUnlock())
    _ = try await fixture.call(TokenGet(account: "work"))
    _ = try await fixture.call(VaultLock())
    #expect(await fixture.failure(TokenGet(account: "work")) == .vaultLocked)
  }
}
