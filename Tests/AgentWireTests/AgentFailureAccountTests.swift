import AgentWire
import Testing

@Suite("A message about an account")
struct AgentFailureAccountTests {
  @Test(
    "names the account once, and not where its name stands already",
    arguments: [
      ("the server is away", "work: the server is away", "the server is away"),
      ("work: the server is away", "work: the server is away", "the server is away"),
      ("workshop: it is away", "work: workshop: it is away", "workshop: it is away"),
      ("", "work: ", ""),
    ])
  func once(message: String, about: String, without: String) {
    let failure = AgentFailure(.unavailable, message)
    #expect(failure.message(about: "work") == about)
    #expect(failure.message(without: "work") == without)
    #expect(AgentFailure.text(message, without: "work") == without)
  }

  @Test("a slot stands in the status as its kind, with what is wrong behind it", arguments: VaultSlotKind.allCases)
  func slots(kind: VaultSlotKind) {
    #expect(kind.entry() == kind.rawValue)
    #expect(kind.entry(.damaged) == "\(kind.rawValue) (damaged)")
    #expect(kind.entry(.missing) == "\(kind.rawValue) (missing)")
    #expect(kind.entries.count == 3)
  }
}
