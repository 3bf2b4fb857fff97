import FoundationEssentials
import JSONCoding
import Testing

@Suite("JSON, next to Foundation's coders")
struct SameAsFoundationTests {
  @Test("What is written is Foundation's to the byte, its keys sorted", arguments: 0..<20)
  func written(seed: UInt64) throws {
    var random = SeededGenerator(state: seed)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    for _ in 0..<100 {
      let sample = Sample.random(&random)
      let bytes = try JSONWriter.bytes(of: sample)
      #expect(bytes == Array(try encoder.encode(sample)))
      // The way back to an older version of the agent.
      #expect(try JSONDecoder().decode(Sample.self, from: Data(bytes)) == sample)
    }
  }

  @Test("What Foundation wrote, keys in any order and slashes escaped, is read as it was", arguments: 0..<20)
  func read(seed: UInt64) throws {
    var random = SeededGenerator(state: seed)
    for _ in 0..<100 {
      let sample = Sample.random(&random)
      #expect(ShapeDecoder.read(Sample.self, Array(try JSONEncoder().encode(sample))) == sample)
      #expect(ShapeDecoder.read(Sample.self, try JSONWriter.bytes(of: sample)) == sample)
    }
  }

  /// By its bits: -0 and 0 are equal.
  @Test("Every double comes back as it was", arguments: 0..<10)
  func doubles(seed: UInt64) throws {
    var random = SeededGenerator(state: seed)
    for _ in 0..<1_000 {
      let double = Double(bitPattern: random.next())
      guard double.isFinite else { continue }
      let bytes = Array(try JSONEncoder().encode([double, -0.0]))
      #expect(try JSONWriter.bytes(of: [double, -0.0]) == bytes)
      #expect(ShapeDecoder.read([Double].self, bytes)?.map(\.bitPattern) == [double.bitPattern, (-0.0).bitPattern])
    }
  }

  @Test(
    "A number that does not fit, or is another kind of value, is refused by both",
    arguments: [
      "256", "-1", "1.5", "1e2", "1e400", "01", "+1", ".5", "0x1", "NaN", "Infinity", "null", "true", "\"1\"", "[]",
      "{}",
      "", " ", "1 2", "[1", "1]", "nul",
    ])
  func numbers(text: String) {
    #expect(ShapeDecoder.read(UInt8.self, Array(text.utf8)) == nil)
    // Foundation takes a whole number with an exponent for an integer, which neither of the two writes.
    #expect(text == "1e2" || (try? JSONDecoder().decode(UInt8.self, from: Data(text.utf8))) == nil)
  }
}

/// The same numbers in every run.
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}
