import Testing

@testable import AgentRuntime

@Suite("TOML is checked before the parser sees it")
struct TOMLReaderTests {
  private func line(ofErrorIn text: String) -> Int? {
    do throws(TOMLDocument.SyntaxError) {
      _ = try TOMLDocument(Array(text.utf8))
      return nil
    } catch { return error.line }
  }

  @Test(
    "What would end the parser's process is refused with its line",
    arguments: [
      // No key in a header.
      "[[[", "[.", "[[ [a]]", "[=", "[é]", "[[#", "[\n", "[ ", "[[", "[a.", "[a.]", "[a]]", "[[a] ]", "[a] b",
      // No value in an array.
      "a = [}", "a = [1, }", "scope = [\"read\", }", "a = {b = [}", "a = [\u{2028}]", "a = [\u{85}]", "a = [\u{A0}1]",
      "a = [,]", "a = [1,,]", "a = [1 2]", "a = [#", "a = [1",
      // A date, a blank and one digit; a date without a time behind its T; digits and underscores without end.
      "a = 1979-05-27 0", "a = 1979-05-27 0,", "a = 1979-05-27 0 ", "a = 1979-05-27T:", "a = 1979-05-27T:00:00",
      "a = 1979-05-27t-07:32:00", "a = 1979-" + String(repeating: "_", count: 116) + "05-27 1",
      // The rest of a statement.
      "a", "a =", "a = ", "= 1", ".a = 1", "a. = 1", "a..b = 1", "a = 1 b = 2", "a = tru", "a = _1", "a = 1_", "a = 01",
      "a = 1.", "a = .1", "a = 1e", "a = +", "a = 0x", "a = 0b2", "a = +0x1", "a = 07:32", "a = 1979-05-27T",
      "a = {b = 1,}", "a = {,}", "a = {b}", "a = {b = 1", "a = {b = 1\n}", "a = \"\\", "a = \"", "a = '", "a = \"\"\"",
      "a = '''''", "a = \"\"\"\\\"\"\"", "'''a''' = 1", "\"\"\"a\"\"\" = 1", "a = \"x\ny\"", "a = ''''''''''",
      // Two marks of the byte order.
      "\u{FEFF}\u{FEFF}a = 1",
    ])
  func refused(_ text: String) {
    #expect(line(ofErrorIn: text) == 1)
  }

  @Test("All of TOML passes")
  func accepted() throws {
    let text = #"""
      # comment é
      a = "x\t\"\\\u00e9" # behind
      "b" = 'C:\x'
      c."d.e".f = """one\
         two "" \""" three"""""
      g = '''it''s'''''
      h = [ # comment
        1, -2, +3_000, 0xFF_ff, 0o17, 0b1_0, 0, -0,
        # more
      ]
      i = [1.5, -0.25e-3, 1e6, 6.626E-34, inf, +inf, -nan, 1_0.0_1, 12e3, +12e-3]
      j = [1979-05-27, 07:32:00, 07:32:00.999999, 1979-05-27T07:32:00, 1979-05-27t07:32:00z]
      k = [1979-05-27 07:32:00-08:00, 1979-05-27 07:32:00.5 , 1979-05-27 ,1979-05-27T07:32:00+23:59]
      l = {a = true, "b c" . d = false, e = {}, f = [[], [{}]]}
      m = []
      1234 = 1
      -_- = ""
      '' = ''
      [ table . 'x' ] # comment
      x=1
      [[ list ]]
      [[list]]
      """#
    for text in [text, text.replacing("\n", with: "\r\n"), "\u{FEFF}" + text + "\n", ""] {
      let document = try TOMLDocument(Array(text.utf8))
      guard !text.isEmpty else { continue }
      #expect(document.values.count == 15)
      #expect(document.values["a"] == .string("x\t\"\\é"))
      #expect(document.values["g"] == .string("it''s''"))
      #expect(document.line(of: "list") == 21)
    }
  }

  /// The same numbers in every run.
  private struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state ^= state >> 12
      state ^= state << 25
      state ^= state >> 27
      return state &* 0x2545_F491_4F6C_DD1D
    }
  }

  /// Makes texts by TOML's grammar.
  private struct Writer {
    var random: Dice
    private var keys = 0

    init(seed: UInt64) { random = Dice(state: seed) }

    mutating func pick(_ choices: [String]) -> String { choices.randomElement(using: &random) ?? "" }

    mutating func key() -> String {
      keys += 1
      return pick(["k\(keys)", "\"q \(keys)\"", "'l.\(keys)'", "d\(keys).e", "d\(keys) . \"f\"", "\(keys)-_"])
    }

    mutating func value(_ depth: Int = 0) -> String {
      let scalars = [
        "true", "false", "0", "-17", "1_000", "0xfF", "0o7", "0b1", "1.5", "-1e-7", "1E+2", "inf", "-nan", "1979-05-27",
        "07:32:00.25", "1979-05-27T07:32:00Z", "1979-05-27 07:32:00-07:00", "\"\"", "\"a\\n\\\"\\u00e9 é#\"", "'[b\\'",
        "\"\"\"\nx \"\" \\\n  y\"\"\"", "'''\n'' ]'''", "''",
      ]
      guard depth < 4 else { return pick(scalars) }
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        let values = (0..<Int.random(in: 0...3, using: &random)).map { _ in value(depth + 1) }
        return pick(["[", "[ ", "[\n", "[ # ]\n"]) + values.joined(separator: pick([",", ", ", "\n,", " , # ,\n"]))
          + (values.isEmpty ? "" : pick(["", ","])) + pick(["]", " ]", "\n]"])
      case 1:
        let pairs = (0..<Int.random(in: 0...3, using: &random)).map { _ in "\(key()) = \(value(depth + 1))" }
        return "{" + pairs.joined(separator: pick([",", " , "])) + pick(["}", " }"])
      default: return pick(scalars)
      }
    }

    mutating func document() -> String {
      (0..<Int.random(in: 1...4, using: &random)).map { _ in
        let statement = [
          "[\(key())]", "[[ \(key()) ]]", "# \(value())".split(separator: "\n").first.map(String.init) ?? "",
          "\(key()) = \(value())", "\(key())=\(value())", "\(key())\t= \(value())",
        ]
        return pick(statement) + pick(["\n", " # x\n", "\r\n", "\n\n"])
      }.joined()
    }

    /// A few changes at random places, by marks that mean something.
    mutating func mutated(_ text: String) -> [UInt8] {
      let marks = [
        "[", "]", "[[", "]]", "{", "}", "=", ".", ",", "\"", "'", "\"\"\"", "'''", "\\", "\\u", "#", "\n", "\r\n", " ",
        "\t",
        "1", "-", "+", "_", "0x", "e", "T", ":", "Z", "1979-05-27 1", "1979-05-27T", "é", "\u{FEFF}", "\u{2028}",
        "\u{85}",
      ]
      var bytes = Array(text.utf8)
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let place = Int.random(in: 0...bytes.count, using: &random)
        let end = min(place + Int.random(in: 0...4, using: &random), bytes.count)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes.removeSubrange(place..<end)
        case 1: bytes.insert(contentsOf: bytes[place..<end], at: Int.random(in: 0...bytes.count, using: &random))
        case 2: bytes.removeSubrange(end...)
        default: bytes.replaceSubrange(place..<end, with: Array(pick(marks).utf8))
        }
      }
      return bytes
    }
  }

  @Test("What the grammar makes is read, and no change of it ends the process")
  func mutations() {
    var writer = Writer(seed: 0x70_6D_6C)
    var refused = 0
    for _ in 0..<1_000 {
      let text = writer.document()
      #expect(throws: Never.self, "\(text)") { try TOMLDocument(Array(text.utf8)) }
      for _ in 0..<4 where (try? TOMLDocument(writer.mutated(text))) == nil { refused += 1 }
    }
    // Else the changes would change nothing.
    #expect(refused > 1_000)
  }
}
