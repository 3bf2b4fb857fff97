import SystemFacts
import Testing

@Suite("A word for a shell")
struct ShellWordTests {
  @Test("It is quoted byte by byte: an accent hides no quotation mark")
  func quoted() {
    let words = [
      ("plain/word", "plain/word"), ("", "''"), ("a b", "'a b'"),
      ("x'\u{301};id;'", #"'x'\''"# + "\u{301}" + #";id;'\'''"#),
    ]
    for (word, expected) in words { #expect(Array(ShellWord.quoted(word).utf8) == Array(expected.utf8)) }
  }
}
