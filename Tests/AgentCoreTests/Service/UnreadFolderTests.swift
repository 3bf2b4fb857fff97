import AgentTestSupport
import AgentWire
import Testing

@testable import AgentCore

@Suite("A folder of account files that cannot be used")
struct UnreadFolderTests {
  @Test("A login whose file is not known is told with the fault of the folder, and an unknown host too")
  func hidden() async throws {
    let fixture = AgentFixture([.browser])
    try await fixture.logIn()
    // As after a start: the vault alone knows of the account.
    fixture.configuration.set([])
    _ = try await fixture.call(ConfigReload())
    #expect(await fixture.failure(TokenGet(account: "work"))?.kind == .accountUnknown)
    let step = NextStep.run("chmod go-w /etc/accounts.d")
    let fault = ConfigurationProblem(
      file: "/etc/accounts.d", line: nil, key: nil, reason: "the folder may be written by others", hint: step)
    fixture.configuration.set([], problems: [fault])
    _ = try await fixture.call(ConfigReload())
    for request in [TokenGet(account: "work"), TokenGet(url: "http://127.0.0.1:8080/x")] {
      let failure = await fixture.failure(request)
      #expect(failure?.kind == .configInvalid && failure?.hint == step)
      #expect(failure?.message.hasPrefix("work: /etc/accounts.d: the folder may") == true)
    }
    let other = await fixture.failure(TokenGet(url: "https://other.example/"))
    #expect(other?.kind == .accountUnknown && other?.hint == step)
    let listed = try await fixture.call(AccountList()).accounts
    #expect(listed.map(\.state) == [.configInvalid] && listed.first?.nextStep == step && listed.first?.fileGone == nil)
    fixture.configuration.set([.browser])
    _ = try await fixture.call(ConfigReload())
    #expect(try await fixture.isGood(fixture.call(TokenGet(account: "work")).accessToken))
  }
}
