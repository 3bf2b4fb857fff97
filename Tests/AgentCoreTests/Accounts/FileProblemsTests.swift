import AgentWire
import Testing

@testable import AgentCore

@Suite("Problems of configuration files")
struct FileProblemsTests {
  private func problem(_ file: String, _ line: Int? = nil, reason: String = "bad") -> ConfigurationProblem {
    ConfigurationProblem(file: file, line: line, key: nil, reason: reason)
  }

  @Test("They are found by account")
  func byAccount() {
    let problems = FileProblems([
      problem("/c/config.toml"), problem("/c/accounts.d/a.toml", 1), problem("/c/accounts.d/b.toml", 2),
      problem("/c/accounts.d/a.toml", 3),
    ])
    #expect(problems.about("a").map(\.line) == [1, 3])
    #expect(problems.first(about: "b")?.line == 2)
    #expect(problems.about("c").isEmpty && problems.first(about: "ccounts.d/a") == nil)
  }

  @Test("A fault of config.toml is told once, and keeps every account from use that it concerns")
  func shared() {
    let problems = FileProblems(
      ["a", "b"].map {
        ConfigurationProblem(
          file: "/c/config.toml", line: 1, key: "ca_file", reason: "bad", hinderedFile: "/c/accounts.d/\($0).toml")
      })
    #expect(problems.about("a").count == 1 && problems.hindrance(of: "b")?.file == "/c/config.toml")
    #expect(problems.concern("/c/accounts.d/a.toml") && !problems.concern("/c/config.toml"))
    #expect(problems.told.count == 1 && problems.cut.problems.count == 1 && problems.cut.leftOut == nil)
  }

  @Test("A file was not read when it, or a folder that it lies in, has a problem")
  func unread() {
    let problems = FileProblems([problem("/c/accounts.d/a.toml"), problem("/d/accounts.d")])
    #expect(problems.concern("/c/accounts.d/a.toml") && problems.concern("/d/accounts.d/x.toml"))
    #expect(!problems.concern("/c/accounts.d/b.toml") && !problems.concern("/d/accounts.dd") && !problems.concern(""))
    #expect(FileProblems([problem("/c")]).concern("/c/accounts.d/b.toml"))
    #expect(!FileProblems().concern("/c"))
  }

  @Test("A file of which nothing is known is hindered by its own problem, else by that of a folder")
  func hindered() {
    let problems = FileProblems([problem("/c/accounts.d"), problem("/c/accounts.d/a.toml")])
    #expect(problems.hindrance(of: "a")?.file == "/c/accounts.d/a.toml")
    #expect(problems.hindrance(of: "b")?.file == "/c/accounts.d")
    #expect(FileProblems([problem("/c/accounts.d/a.toml")]).hindrance(of: "b") == nil)
  }

  @Test("An answer lists a hundred, fewer long ones, and tells how many more there are")
  func cut() {
    func cut(_ count: Int, reason: String = "bad") -> (Int, Int?) {
      let (problems, leftOut) = FileProblems((0..<count).map { problem("/c/\($0).toml", reason: reason) }).cut
      return (problems.count, leftOut)
    }
    #expect(cut(0) == (0, nil))
    #expect(cut(100) == (100, nil))
    #expect(cut(101) == (100, 1))
    #expect(cut(10_000) == (100, 9_900))
    let long = cut(100, reason: String(repeating: "x", count: 4_000))
    #expect(long.0 < 40 && long.1 == 100 - long.0)
  }

  @Test("However many and long they are, the answer fits into a line beside a page of accounts")
  func fits() {
    let name = String(repeating: "\"", count: 4_000)
    let problems = FileProblems((0..<10_000).map { problem("/\(name)/\($0).toml", 1, reason: name) })
    let (listed, leftOut) = problems.cut
    let line = AnswerLine.success(
      .number(1), ConfigReloadAnswer(accounts: 0, problems: listed, problemsLeftOut: leftOut))
    #expect(line.count < WireLimits.answerBytes / 8 && listed.count + (leftOut ?? 0) == 10_000)
  }
}
