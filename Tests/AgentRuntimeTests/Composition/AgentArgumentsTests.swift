import Logging
import Testing

@testable import AgentRuntime

@Suite("The agent's command line")
struct AgentArgumentsTests {
  @Test("Without arguments the agent serves, with the level of its configuration")
  func nothing() { #expect(AgentArguments([]) == .serve(logLevel: nil)) }

  @Test("The level is taken in both spellings", arguments: [["--log-level", "debug"], ["--log-level=debug"]])
  func level(_ words: [String]) { #expect(AgentArguments(words) == .serve(logLevel: .debug)) }

  @Test("Help and version are shown, whatever else is there", arguments: ["--help", "-h", "--version"])
  func shown(_ word: String) {
    guard case .show(let text) = AgentArguments(["--log-level", "debug", word, "x"]) else {
      Issue.record("not shown")
      return
    }
    #expect(!text.isEmpty)
  }

  @Test(
    "What is not known is refused, and what was typed is not repeated",
    arguments: [
      ["--log-level"], ["--log-level", "loud"], ["--log-level="], ["--loglevel=debug"], ["serve"], [""],
      ["--log-level", "debug", "secret"], ["-v"],
    ])
  func wrong(_ words: [String]) {
    guard case .wrong(let reason) = AgentArguments(words) else {
      Issue.record("not refused")
      return
    }
    #expect(!reason.contains("loud") && !reason.contains("secret"))
  }
}
