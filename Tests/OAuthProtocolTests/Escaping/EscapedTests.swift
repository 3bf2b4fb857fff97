import OAuthProtocol
import Testing

@Suite struct EscapedTests {
  @Test(
    "nothing that acts or hides comes through",
    arguments: [
      ("plain text, ümläut 漢字 é🙂", "plain text, ümläut 漢字 é🙂"),
      ("\u{1B}[31mred\u{1B}]0;t\u{7}", "\\u{1b}[31mred\\u{1b}]0;t\\u{7}"),
      ("a\r\nb\tc\0", "a\\r\\nb\\tc\\u{0}"),
      ("\u{7F}\u{80}\u{9B}31m\u{9F}", "\\u{7f}\\u{80}\\u{9b}31m\\u{9f}"),
      ("\u{202E}txt.exe\u{202C}", "\\u{202e}txt.exe\\u{202c}"),
      (
        "\u{2066}\u{2067}\u{2068}\u{2069}\u{61C}\u{200E}\u{200F}",
        "\\u{2066}\\u{2067}\\u{2068}\\u{2069}\\u{61c}\\u{200e}\\u{200f}"
      ),
      ("a\u{200B}\u{200C}\u{200D}\u{2060}\u{FEFF}b", "a\\u{200b}\\u{200c}\\u{200d}\\u{2060}\\u{feff}b"),
      ("\u{AD}\u{34F}\u{180E}\u{3164}\u{115F}", "\\u{ad}\\u{34f}\\u{180e}\\u{3164}\\u{115f}"),
      ("\u{2028}\u{2029}\u{85}\u{A0}\u{3000}", "\\u{2028}\\u{2029}\\u{85}\\u{a0}\\u{3000}"),
      ("\u{E0041}\u{FE0F}\u{E000}\u{FFFE}", "\\u{e0041}\\u{fe0f}\\u{e000}\\u{fffe}"),
      ("C:\\n \\u{1b}", "C:\\\\n \\\\u{1b}"),
      ("", ""),
    ])
  func escapes(text: String, expected: String) {
    #expect(Escaped.forTerminal(text) == expected)
  }

  @Test("every control character of C0, DEL and C1 is shown as an escape")
  func controls() {
    for value in Array(0..<0x20) + Array(0x7F..<0xA0) {
      guard let scalar = Unicode.Scalar(UInt32(value)) else { continue }
      #expect(Escaped.forTerminal(String(scalar)).utf8.allSatisfy { (0x20..<0x7F).contains($0) })
    }
  }

  @Test(
    "a long text is cut to the limit, never inside an escape",
    arguments: [
      ("abcdef", 6, "abcdef"), ("abcdefg", 6, "abcde…"), ("abcd\u{1B}", 6, "abcd…"), ("abcd\n", 6, "abcd\\n"),
      ("abcd\nx", 6, "abcd…"), ("abc\nx", 6, "abc\\nx"), ("x", 0, ""), ("xy", 1, "…"),
    ])
  func cuts(text: String, limit: Int, expected: String) {
    #expect(Escaped.forTerminal(text, limit: limit) == expected)
  }
}
