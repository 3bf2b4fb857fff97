import Testing

@testable import AgentRuntime

@Suite("Framing")
struct LineFramerTests {
  /// What the framer makes of `pieces`: lines as text, `!` for too long.
  private func read(_ pieces: [[UInt8]], limit: Int = 64) -> [String] {
    var framer = LineFramer(limitBytes: limit)
    var lines: [String] = []
    for piece in pieces {
      piece.withUnsafeBytes { framer.append($0) }
      loop: while true {
        switch framer.next() {
        case .line(let line): lines.append(String(decoding: line, as: UTF8.self))
        case .incomplete: break loop
        case .tooLong: return lines + ["!"]
        }
      }
    }
    return lines
  }

  @Test(
    "A stream gives the same lines however it is cut into pieces",
    arguments: [
      ("", []), ("\n", [""]), ("a\n", ["a"]), ("a\nbc\n\nd\n", ["a", "bc", "", "d"]), ("a\r\nb", ["a\r"]),
      ("né\u{2028}x\n\0\n", ["né\u{2028}x", "\0"]),
      ("one\ntwo\nthree\nfour", ["one", "two", "three"]),
    ] as [(String, [String])])
  func everySplit(_ stream: String, _ expected: [String]) {
    let bytes = Array(stream.utf8)
    for first in 0...bytes.count {
      for second in first...bytes.count {
        let pieces = [Array(bytes[..<first]), Array(bytes[first..<second]), Array(bytes[second...])]
        #expect(read(pieces) == expected, "cut at \(first) and \(second)")
      }
    }
    #expect(read(bytes.map { [$0] }) == expected)
  }

  @Test("The limit counts the line feed, in one piece and in many", arguments: [1, 2, 63, 64, 65, 66, 200])
  func limit(_ length: Int) {
    let line = [UInt8](repeating: UInt8(ascii: "x"), count: length - 1)
    let expected = length <= 64 ? [String(decoding: line, as: UTF8.self)] : ["!"]
    #expect(read([line + [0x0A]]) == expected)
    #expect(read((line + [0x0A]).map { [$0] }) == expected)
    // Without its line feed a line is refused as soon as it cannot fit any more.
    #expect(read([line]) == (length <= 64 ? [] : ["!"]))
  }

  @Test("A line within the limit is cut where it lies, and what is no whole line stays")
  func cut() {
    Array("abc\n\nabcd\n".utf8).withUnsafeBytes { bytes in
      var rest = bytes
      #expect(LineFramer.cut(&rest, limitBytes: 4).map { String(decoding: $0, as: UTF8.self) } == "abc")
      #expect(LineFramer.cut(&rest, limitBytes: 4)?.count == 0)
      #expect(LineFramer.cut(&rest, limitBytes: 4) == nil)
      #expect(rest.count == 5)
      rest = UnsafeRawBufferPointer(rebasing: bytes[..<2])
      #expect(LineFramer.cut(&rest, limitBytes: 4) == nil)
      #expect(rest.count == 2)
    }
  }

  @Test("It is empty when every line was asked for, and when it was wiped")
  func empty() {
    var framer = LineFramer(limitBytes: 64)
    Array("a\nb".utf8).withUnsafeBytes { framer.append($0) }
    #expect(framer.next() == .line([0x61]))
    #expect(!framer.isEmpty)
    Array("\n".utf8).withUnsafeBytes { framer.append($0) }
    #expect(framer.next() == .line([0x62]))
    #expect(framer.isEmpty)
    Array("c\n".utf8).withUnsafeBytes { framer.append($0) }
    framer.wipe()
    #expect(framer.isEmpty && framer.next() == .incomplete)
  }
}
