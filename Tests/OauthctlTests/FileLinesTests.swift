import Testing

@testable import oauthctl

@Suite("The lines of a person's file")
struct FileLinesTests {
  @Test("A line ends at a line feed, and nowhere else")
  func all() {
    #expect(FileLines.all("a\r\nb\n\nc") == ["a\r", "b", "", "c"])
    #expect(FileLines.all("# x\u{2028}y\u{85}z\rw\n") == ["# x\u{2028}y\u{85}z\rw"])
    #expect(FileLines.all("").isEmpty)
    #expect(FileLines.shown("\(NewAccount.firstLine)\na\r\n\nb\n") == ["a", "b"])
  }

  @Test(
    "What differs is shown, comments too, and as often as it differs",
    arguments: [
      ("# a\nx = 1\ny = 2\n", "# b\nx = 1\ny = 3\nz = 4\n", ["- # a", "- y = 2", "+ # b", "+ y = 3", "+ z = 4"]),
      ("# a\r\nx = 1\r\n", "", ["- # a", "- x = 1"]), ("a\nb\na\n", "b\na\n", ["- a"]),
      ("a\n", "a\nb\na\n", ["+ b", "+ a"]),
      ("\u{E9}\n", "e\u{301}\n", ["- \u{E9}", "+ e\u{301}"]),
    ])
  func differences(old: String, new: String, told: [String]) {
    #expect(FileLines.differences(from: old, to: new) == told)
  }
}
