import SystemFacts
import Testing

@Suite("A word for a shell")
struct ShellWordTests {
  /// A line's end in a path would begin a line of its own where the command is shown.
  private static let controls = [
    ("a\nrun: b", #"$'a\012run: b'"#), ("it's\u{1B}[31m\\7", #"$'it\'s\033[31m\\7'"#), ("é\u{7F}", #"$'é\177'"#),
  ]

  @Test("It is quoted byte by byte: an accent hides no quotation mark")
  func quoted() {
    let words = [
      ("plain/word", "plain/word"), ("", "''"), ("a b", "'a b'"), ("a=b", "a=b"), ("=ls", "'=ls'"),
      ("x'\u{301};id;'", #"'x'\''"# + "\u{301}" + #";id;'\'''"#),
    ]
    for (word, expected) in words + Self.controls {
      #expect(Array(ShellWord.quoted(word).utf8) == Array(expected.utf8))
    }
  }
}
