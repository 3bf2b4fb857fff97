import Testing

@testable import AgentWire

@Suite("Names that were meant")
struct NameSuggestionTests {
  @Test(
    "The nearest known name, within two edits or by its beginning",
    arguments: [
      ("wrk", ["work", "home"], "work"), ("stauts", ["status", "setup"], "status"), ("work2", ["work"], "work"),
      ("Client-ID", ["client_id"], "client_id"), ("a", ["bb", "cc"], nil),
      ("hmoe", ["home"], "home"), ("owrk", ["work"], "work"), ("okrw", ["work"], nil),
      ("stauts", ["staves", "status"], "status"), ("x", [], nil), ("", ["a"], nil),
      (String(repeating: "a", count: 65), ["a"], nil), ("nobody", ["work"], nil),
    ] as [(String, [String], String?)])
  func nearest(name: String, known: [String], meant: String?) {
    #expect(NameSuggestion.nearest(to: name, among: known) == meant)
  }
}
