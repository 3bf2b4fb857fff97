import Testing

@testable import JSONCoding

@Suite("JSON texts")
struct JSONShapeTests {
  private func problem(_ text: String, nesting: Int = 8, takesNUL: Bool = false) -> String? {
    do throws(JSONShape.Malformed) {
      _ = try JSONShape(Array(text.utf8), nesting: nesting, takesNUL: takesNUL)
      return nil
    } catch { return error.reason }
  }

  @Test("Nesting is bounded, to the level", arguments: [1, 8, 32])
  func nesting(most: Int) {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
      func text(_ depth: Int) -> String {
        String(repeating: open, count: depth) + "0" + String(repeating: close, count: depth)
      }
      #expect(problem(text(most), nesting: most) == nil)
      #expect(problem(text(most + 1), nesting: most) == "it is nested deeper than \(most)")
      #expect(problem(text(100_000), nesting: most) == "it is nested deeper than \(most)")
    }
  }

  @Test("A key that stands twice is found among few and among many", arguments: [2, 15, 16, 17, 18, 400])
  func duplicates(count: Int) throws {
    var keys = (0..<count).map { "\"k\($0)\":\($0)" }
    func shape() throws -> JSONShape { try JSONShape(Array("{\(keys.joined(separator: ","))}".utf8), nesting: 1) }
    #expect(try shape().duplicateKey == nil)
    // Spelled otherwise.
    keys[count - 1] = "\"\\u006B0\":1"
    #expect(try shape().duplicateKey == Array("k0".utf8))
    #expect(try shape().top.members.count == count)
  }

  @Test("A NUL in a string is taken where it is asked for, and nowhere as a byte")
  func nul() {
    #expect(problem(#""\u0000""#) == "a string holds a NUL at byte 1")
    #expect(ShapeDecoder.read(String.self, Array(#""a\u0000b""#.utf8)) == "a\0b")
    #expect(problem("\"\0\"", takesNUL: true) == "it holds a NUL byte")
  }

  @Test(
    "Surrogates come in pairs",
    arguments: [#""\ud800""#, #""\udc00""#, #""\ud800\ud800""#, #""\ud800x""#, #""\ud800\n""#])
  func surrogates(text: String) { #expect(problem(text, takesNUL: true)?.contains("surrogate") == true) }

  @Test("What is no UTF-8 is refused", arguments: [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0x80]] as [[UInt8]])
  func encoding(bytes: [UInt8]) {
    #expect(ShapeDecoder.read(String.self, [0x22] + bytes + [0x22]) == nil)
  }
}
