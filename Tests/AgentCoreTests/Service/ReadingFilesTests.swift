import AgentTestSupport
import AgentWire
import Logging
import OAuthProtocol
import Sealing
import Synchronization
import Testing

@testable import AgentCore

@Suite("Reading the files beside the agent's work")
struct ReadingFilesTests {
  private let configuration = SlowConfiguration(.browser)

  private func service() async throws -> CredentialService {
    let clock = ManualClock()
    let service = CredentialService(
      store: MemoryStore(), transport: AgentFixture.server(clock), configuration: configuration, time: clock,
      random: SystemRandom(), ready: ReadyTokens(), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    try await service.open()
    #expect(configuration.began == 1)
    configuration.makeSlow()
    return service
  }

  private func account(_ name: String) -> AccountDefinition { .browser.changed { $0.name = name } }

  @Test("While a reading takes its time, requests are answered")
  func answers() async throws {
    let service = try await service()
    async let reloaded = service.reload()
    try await eventually("it reads") { configuration.began == 2 }
    #expect(try await service.list(limit: nil, after: nil).accounts.map(\.account) == ["work"])
    #expect(await service.definedCount == 1)
    configuration.end([account("a"), account("b")])
    #expect(try await reloaded.accounts == 2)
    #expect(await service.definedCount == 2)
  }

  @Test("Who asks while one is under way is answered by a later one, which all of them share")
  func shared() async throws {
    let service = try await service()
    async let first = service.reload()
    try await eventually("it reads") { configuration.began == 2 }
    let later = (0..<5).map { _ in Task { try await service.reload().accounts } }
    try await eventually("the next one is asked for") { await service.files.readings.next != nil }
    configuration.end([account("a")])
    #expect(try await first.accounts == 1)
    try await eventually("the next one reads") { configuration.began == 3 }
    configuration.end([account("a"), account("b")])
    for task in later { #expect(try await task.value == 2) }
    #expect(configuration.began == 3, "one for the five")
    #expect(await service.definedCount == 2)
  }

  @Test("What is read while the vault is being locked defines nothing, and is told")
  func locked() async throws {
    let service = try await service()
    async let reloaded = service.reload()
    try await eventually("it reads") { configuration.began == 2 }
    _ = try await service.lock(ManualVault())
    configuration.end(
      [account("a"), account("b")], problems: [ConfigurationProblem(file: "/x", line: 1, key: nil, reason: "bad")])
    #expect(try await reloaded.problems.count == 1)
    #expect(await service.definedCount == 2)
    #expect(await service.problems.all.count == 1)
    #expect(await service.hasAccounts == false)
  }
}

extension CredentialService {
  fileprivate var hasAccounts: Bool { !accounts.isEmpty }
}
