import NIOCore
import Testing

@testable import AgentRuntime

@Suite("Framing")
struct LineFramerTests {
  /// What the framer makes of `pieces`: lines as text, `!` for too long.
  private func read(_ pieces: [[UInt8]], limit: Int = 64) -> [String] {
    var framer = LineFramer(limitBytes: limit)
    var lines: [String] = []
    for piece in pieces {
      framer.append(ByteBuffer(bytes: piece))
      loop: while true {
        switch framer.next() {
        case .line(let line): lines.append(String(buffer: line))
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

  @Test("What was read into a larger buffer is wiped where it was")
  func wipesOldBytes() {
    var framer = LineFramer(limitBytes: 1_024)
    let first = ByteBuffer(string: "secret-")
    let second = ByteBuffer(string: "continued")
    framer.append(first)
    framer.append(second)
    #expect(first.readableBytesView.allSatisfy { $0 == 0 })
    #expect(second.readableBytesView.allSatisfy { $0 == 0 })
  }
}
