import FetchWire
import Testing

@Suite("No bytes make a reader trap")
struct HostileBytesTests {
  /// Reads a stream as both ends do, whole and cut in two. Only the absence of a trap and of a range outside the stream
  /// counts.
  private func swallow(_ bytes: [UInt8], cut: Int) {
    for part in [Array(bytes[..<cut]), bytes] {
      if let read = try? readRequest(part) { #expect(read.body.upperBound <= part.count) }
    }
    var reader = FetchEventReader()
    for part in [Array(bytes[..<cut]), bytes] {
      guard let events = try? reader.all(part) else { return }
      for case .answer(let answer) in events { #expect(answer.body.upperBound <= part.count) }
    }
  }

  @Test("Random bytes", arguments: [1, 2, 3, 4] as [UInt64])
  func random(seed: UInt64) {
    var dice = Dice(seed)
    for _ in 0..<5_000 {
      let bytes = (0..<Int.random(in: 0...64, using: &dice)).map { _ in UInt8.random(in: 0...255, using: &dice) }
      swallow(bytes, cut: Int.random(in: 0...bytes.count, using: &dice))
    }
  }

  @Test("Random payloads in frames of a right kind and length", arguments: [5, 6, 7, 8] as [UInt64])
  func framed(seed: UInt64) {
    var dice = Dice(seed)
    for _ in 0..<3_000 {
      var bytes: [UInt8] = []
      for _ in 0..<Int.random(in: 1...3, using: &dice) {
        let kind = [0x01, 0x02, 0x11, 0x12, 0x13, 0x14][Int.random(in: 0..<6, using: &dice)] as UInt8
        // Small numbers, so that lengths inside are often nearly right.
        bytes += frame(
          kind,
          (0..<Int.random(in: 0...40, using: &dice)).map { _ in UInt8.random(in: 0...255, using: &dice) & 0x83 })
      }
      swallow(bytes, cut: Int.random(in: 0...bytes.count, using: &dice))
    }
  }

  @Test("Mutations of valid streams", arguments: [9, 10, 11, 12] as [UInt64])
  func mutated(seed: UInt64) throws {
    var dice = Dice(seed)
    let streams = try [sampleRequestBytes(), sampleAnswerBytes(), FetchFailure(.proxy, "407").encoded()]
    for _ in 0..<5_000 {
      var bytes = streams[Int.random(in: 0..<3, using: &dice)]
      for _ in 0..<Int.random(in: 1...4, using: &dice) where !bytes.isEmpty {
        let place = Int.random(in: 0..<bytes.count, using: &dice)
        switch Int.random(in: 0..<4, using: &dice) {
        case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &dice)
        case 1: bytes[place] = [0x00, 0x7F, 0x80, 0xFF][Int.random(in: 0..<4, using: &dice)]
        case 2: bytes.remove(at: place)
        default: bytes.insert(UInt8.random(in: 0...255, using: &dice), at: place)
        }
      }
      swallow(bytes, cut: Int.random(in: 0...bytes.count, using: &dice))
    }
  }
}

@Suite("Text fit to show")
struct PlainTextTests {
  @Test(
    "Only printable ASCII stays as it is",
    arguments: [
      ("plain ~ text", "plain ~ text"), ("a\u{1b}[31m", "a\\u{1b}[31m"), ("\u{202e}x", "\\u{202e}x"),
      ("zero\u{200b}width", "zero\\u{200b}width"), ("\u{e9}\u{7f}\n", "\\u{e9}\\u{7f}\\u{a}"), ("", ""),
    ])
  func escapes(text: String, shown: String) {
    #expect(plainText(text) == shown)
    #expect(plainText(shown) == shown)
    #expect(FetchFailure(.connection, text).text == shown)
  }

  @Test("The length is cut, never inside an escape")
  func cut() {
    #expect(plainText(String(repeating: "x", count: 1_000)).utf8.count == FetchLimits.failureTextCharacters)
    let escaped = plainText(String(repeating: "\u{202e}", count: 1_000))
    #expect(escaped.utf8.count <= FetchLimits.failureTextCharacters && escaped.hasSuffix("\\u{202e}"))
  }
}

@Suite("The receiving buffer")
struct FetchBufferTests {
  @Test("It takes what fits, refuses the rest and forgets everything when wiped")
  func appends() throws {
    let buffer = try #require(FetchBuffer(capacity: 4))
    #expect([UInt8]([1, 2, 3]).withUnsafeBytes { buffer.append($0) })
    #expect(buffer.count == 3 && buffer.room == 1)
    #expect(![UInt8](repeating: 9, count: 2).withUnsafeBytes { buffer.append($0) })
    #expect(buffer.withBytes { Array($0) } == [1, 2, 3])
    buffer.wipe()
    #expect(buffer.count == 0 && buffer.room == 4)
  }
}
