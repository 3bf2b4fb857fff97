import Testing

@testable import oauthctl

@Suite("A line that is typed where the kernel edits none")
struct TypedLineTests {
  private func typed(_ text: String, keys: TypedLine.Keys = TypedLine.Keys()) -> (String, TypedLine.Effect) {
    var line = TypedLine(keys)
    var effect = TypedLine.Effect.goesOn
    for byte in text.utf8 where effect == .goesOn { effect = line.take(byte) }
    return (String(decoding: line.bytes, as: UTF8.self), effect)
  }

  @Test(
    "ends with Enter, and at the end of input where something was typed",
    arguments: [
      ("word\n", "word", TypedLine.Effect.ended), ("word\r\n", "word", .ended), ("word\u{4}", "word", .ended),
      ("\u{4}", "", .nothing), ("\n", "", .ended), ("word", "word", .goesOn),
    ])
  func ends(input: String, line: String, effect: TypedLine.Effect) { #expect(typed(input) == (line, effect)) }

  @Test(
    "is edited as a terminal edits one",
    arguments: [
      ("ab\u{7F}c\n", "ac"), ("ab\u{8}c\n", "ac"), ("aé\u{7F}b\n", "ab"), ("\u{7F}\u{7F}a\n", "a"),
      ("wrong\u{15}right\n", "right"), ("one two \u{17}three\n", "one three"), ("one\u{17}\u{17}\n", ""),
      ("correct-horse\u{17}battery\n", "correct-battery"), ("a.b/c\u{17}d\n", "a.b/d"), ("é-ü\u{17}x\n", "é-x"),
      ("a\u{16}\u{15}b\n", "a\u{15}b"), ("a\u{16}\u{16}\u{16}\nb\n", "a\u{16}\nb"),
      ("a\u{1B}\tb\n", "a\u{1B}\tb"),
    ])
  func isEdited(input: String, line: String) { #expect(typed(input) == (line, .ended)) }

  @Test("A key that is set otherwise, or not at all, edits so")
  func keys() {
    var keys = TypedLine.Keys()
    (keys.kill, keys.eraseWord) = (UInt8(ascii: "@"), 0)
    #expect(typed("no@a\u{15}\u{17}b\0\n", keys: keys) == ("a\u{15}\u{17}b\0", .ended))
  }

  @Test("One erasure takes a character, or a byte where the terminal knows no characters of several")
  func characters() {
    var keys = TypedLine.Keys()
    #expect(typed("aé\u{7F}\n", keys: keys).0 == "a")
    keys.isUTF8 = false
    #expect(typed("aé\u{7F}\u{7F}\n", keys: keys).0 == "a" && typed("aé\u{7F}\n", keys: keys).0 != "a")
  }

  @Test("has no bound of its own: whoever reads it has")
  func long() {
    let secret = String(repeating: "x", count: 40_000)
    #expect(typed(secret + "\n") == (secret, .ended))
  }
}
