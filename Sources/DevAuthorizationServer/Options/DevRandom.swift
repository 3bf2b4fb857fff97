import Sealing

/// Where codes and tokens come from: the kernel, or a seed that gives the same ones every time.
package struct DevRandom: Sendable {
  private var state: UInt64?

  /// The kernel's generator.
  package static let system = DevRandom(state: nil)

  /// Repeatable (SplitMix64), for tests only.
  package static func seeded(_ seed: UInt64) -> DevRandom { DevRandom(state: seed) }

  private mutating func bytes(_ count: Int) -> [UInt8] {
    guard var state else { return SystemRandom().bytes(count) }
    var bytes: [UInt8] = []
    while bytes.count < count {
      state &+= 0x9E37_79B9_7F4A_7C15
      var word = state
      word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
      word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
      word ^= word >> 31
      for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
    }
    self.state = state
    return Array(bytes.prefix(count))
  }

  /// `count` characters of the base64url alphabet.
  mutating func token(_ count: Int) -> String {
    String(Base64URL.encode(bytes((count * 3 + 3) / 4)).prefix(count))
  }

  /// Eight letters that make no word and are not mistaken for each other (RFC 8628 §6.1), as `WDJB-MJHT`.
  mutating func userCode() -> String {
    let letters = Array("BCDFGHJKLMNPQRSTVWXZ")
    var code = ""
    for (index, byte) in bytes(8).enumerated() {
      if index == 4 { code += "-" }
      code.append(letters[Int(byte) % letters.count])
    }
    return code
  }
}
