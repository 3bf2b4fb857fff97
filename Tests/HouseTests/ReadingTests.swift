import Testing

@Suite("Reading the table and import lines")
struct ReadingTests {
  static let files = "\n| file | imports at most |\n|---|---|\n| `A/B.swift` | `Glibc` |\n"

  @Test(
    "an import line is recognised however it is written",
    arguments: [
      ("import Glibc", "Glibc"),
      ("package import Sealing", "Sealing"),
      ("@testable import AgentCore", "AgentCore"),
      ("@_spi(Testing) public import NIOCore", "NIOCore"),
      ("  import struct Foundation.URL", "Foundation"),
      ("import Foundation.NSURL", "Foundation"),
      ("import Foundation;", "Foundation"),
      ("// import Foundation", nil),
      ("let important = 1", nil),
      ("importantCall()", nil),
      ("import", nil),
    ])
  func importLines(line: String, module: String?) {
    #expect(importedModule(line) == module)
  }

  @Test("a row gives a target, what it imports and what it may never import")
  func row() throws {
    let markdown = """
      | target | owns | imports | never |
      |---|---|---|---|
      | `A` | words with `code` | `B` `C` | `Glibc` |
      | `D` | nothing | | |

      | `Z` | not | part | of it |
      """
    let table = try ModuleTable(markdown: markdown + Self.files)
    #expect(
      table.targets == [
        "A": .init(imports: ["B", "C"], never: ["Glibc"]), "D": .init(imports: [], never: []),
      ])
    #expect(table.files == ["A/B.swift": ["Glibc"]])
  }

  @Test("a table that cannot be read is an error, not an empty table")
  func malformed() {
    let head = "| target | owns | imports | never |\n|---|---|---|---|\n"
    #expect(throws: ModuleTable.Malformed.noTable(header: "| target |")) { try ModuleTable(markdown: "nothing") }
    #expect(throws: ModuleTable.Malformed.wrongCells(line: "| `A` | b |")) {
      try ModuleTable(markdown: head + "| `A` | b |\n" + Self.files)
    }
    #expect(throws: ModuleTable.Malformed.twice(name: "A")) {
      try ModuleTable(markdown: head + "| `A` | | | |\n| `A` | | | |\n" + Self.files)
    }
  }
}
