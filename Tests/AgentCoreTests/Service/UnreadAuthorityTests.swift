import AgentTestSupport
import AgentWire
import Testing

@testable import AgentCore

@Suite("A private authority that was not there when the files were read")
struct UnreadAuthorityTests {
  private static let missing = ConfigurationProblem(
    file: "/etc/accounts.d/work.toml", line: 4, key: "ca_file", reason: "/ca.pem does not exist")

  /// An agent that has opened its vault while the authority of `work` was away.
  private func fixture() async throws -> AgentFixture {
    let before = AgentFixture([.browser])
    try await before.logIn()
    before.configuration.set([], problems: [Self.missing])
    return before.restarted()
  }

  @Test("It is read again for the next question, by name, by URL, for a list and for the status")
  func isBack() async throws {
    let questions: [@Sendable (AgentFixture) async throws -> Bool] = [
      { try await $0.call(TokenGet(account: "work")).account == "work" },
      { try await $0.call(TokenGet(url: "http://127.0.0.1:8080/x")).account == "work" },
      { try await $0.call(AccountList()).accounts.map(\.state) == [.ok] },
      { try await $0.call(AgentStatus()).accounts.map(\.state) == [.ok] },
      { try await $0.call(AccountShow(account: "work")).summary.state == .ok },
    ]
    for (number, question) in questions.enumerated() {
      let fixture = try await fixture()
      #expect(await fixture.failure(TokenGet(account: "work"))?.message == "work: \(Self.missing.sentence)")
      fixture.configuration.set([.browser])
      #expect(try await question(fixture), "question \(number)")
    }
  }

  @Test("Reading takes a small part of the time, however many ask")
  func rest() {
    var readings = FileReadings()
    let first = readings.beginsForQuestion(at: 100)
    let meanwhile = readings.beginsForQuestion(at: 101)
    readings.endForQuestion(began: 100, at: 102)
    let tooSoon = readings.beginsForQuestion(at: 121)
    let later = readings.beginsForQuestion(at: 122)
    #expect([first, meanwhile, tooSoon, later] == [true, false, false, true])
  }

  @Test("Other faults of files cost a question no reading")
  func others() {
    func lacks(_ key: String?) -> Bool {
      FileProblems([ConfigurationProblem(file: "/a", line: nil, key: key, reason: "x")]).lacksAuthority
    }
    #expect(lacks("ca_file") && !lacks("issuer") && !lacks(nil))
  }
}
