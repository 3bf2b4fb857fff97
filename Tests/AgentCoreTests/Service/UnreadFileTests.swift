import AgentTestSupport
import AgentWire
import Testing

@testable import AgentCore

@Suite("An account's file, or its private authority, that could not be read")
struct UnreadFileTests {
  private static let missing = ConfigurationProblem(
    file: "/etc/accounts.d/work.toml", line: 4, key: "ca_file", reason: "/ca.pem does not exist")
  private static let closed = ConfigurationProblem(
    file: "/etc/accounts.d/work.toml", line: nil, key: nil, reason: "the file is closed to you (mode 000)")

  /// An agent that has opened its vault while `problem` held.
  private func fixture(_ problem: ConfigurationProblem) async throws -> AgentFixture {
    let before = AgentFixture([.browser])
    try await before.logIn()
    before.configuration.set([], problems: [problem])
    return before.restarted()
  }

  @Test(
    "It is read again for the next question, by name, by URL, for a list and for the status",
    arguments: [missing, closed])
  func isBack(_ problem: ConfigurationProblem) async throws {
    let questions: [@Sendable (AgentFixture) async throws -> Bool] = [
      { try await $0.call(TokenGet(account: "work")).account == "work" },
      { try await $0.call(TokenGet(url: "http://127.0.0.1:8080/x")).account == "work" },
      { try await $0.call(AccountList()).accounts.map(\.state) == [.ok] },
      { try await $0.call(AgentStatus()).accounts.map(\.state) == [.ok] },
      { try await $0.call(AccountShow(account: "work")).summary.state == .ok },
    ]
    for (number, question) in questions.enumerated() {
      let fixture = try await fixture(problem)
      #expect(await fixture.failure(TokenGet(account: "work"))?.message == "work: \(problem.sentence)")
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
    let tooSoon = readings.beginsForQuestion(at: 116)
    let later = readings.beginsForQuestion(at: 117)
    #expect([first, meanwhile, tooSoon, later] == [true, false, false, true])
  }

  @Test("Short readings follow each other at once, until a rest of five seconds is owed")
  func short() {
    var readings = FileReadings()
    var now = 100.0
    func count() -> Int {
      var count = 0
      while readings.beginsForQuestion(at: now) {
        now += 0.01
        readings.endForQuestion(began: now - 0.01, at: now)
        count += 1
      }
      return count
    }
    #expect(56...57 ~= count())
    now += 1
    #expect(11...12 ~= count(), "a tenth of the time since")
  }

  @Test("What stands in a file that could be read costs a question no reading")
  func others() {
    func looks(_ line: Int?, _ key: String?) -> Bool {
      FileProblems([ConfigurationProblem(file: "/a", line: line, key: key, reason: "x")]).mayBeMended
    }
    #expect(looks(1, "ca_file") && looks(nil, nil))
    #expect(!looks(1, "issuer") && !looks(nil, "issuer") && !looks(1, nil))
  }
}
