/// The stream cipher of RFC 8439 §2.4, for what another program has enciphered with a key that everybody has. Nothing of
/// ours is hidden by it: the agent's secrets are libsodium's.
struct ChaCha20 {
  static let keyBytes = 32
  static let nonceBytes = 12
  private static let blockBytes = 64
  private static let rounds = 10

  private let key: [UInt32]
  private let nonce: [UInt32]

  /// Nil for a key or nonce of another size.
  init?(key: [UInt8], nonce: some Collection<UInt8>) {
    guard key.count == Self.keyBytes, nonce.count == Self.nonceBytes else { return nil }
    self.key = Self.words(key)
    self.nonce = Self.words(Array(nonce))
  }

  /// `text` enciphered or deciphered, from the block `counter` on.
  func applied(to text: [UInt8], counter: UInt32) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var counter = counter
    for start in stride(from: 0, to: text.count, by: Self.blockBytes) {
      let block = block(counter)
      for (byte, mask) in zip(text[start..<min(start + Self.blockBytes, text.count)], block) {
        result.append(byte ^ mask)
      }
      counter &+= 1
    }
    return result
  }

  /// §2.3.
  private func block(_ counter: UInt32) -> [UInt8] {
    // "expand 32-byte k".
    let start: [UInt32] = [0x6170_7865, 0x3320_646E, 0x7962_2D32, 0x6B20_6574] + key + [counter] + nonce
    var state = start
    for _ in 0..<Self.rounds {
      for column in 0..<4 { Self.quarterRound(&state, column, column + 4, column + 8, column + 12) }
      for column in 0..<4 {
        Self.quarterRound(&state, column, (column + 1) % 4 + 4, (column + 2) % 4 + 8, (column + 3) % 4 + 12)
      }
    }
    return zip(state, start).flatMap { word, first in
      let sum = word &+ first
      return (0..<4).map { UInt8(truncatingIfNeeded: sum >> (8 * UInt32($0))) }
    }
  }

  /// §2.1.
  private static func quarterRound(_ state: inout [UInt32], _ a: Int, _ b: Int, _ c: Int, _ d: Int) {
    func mix(_ x: Int, _ y: Int, _ z: Int, _ bits: UInt32) {
      state[x] &+= state[y]
      let mixed = state[z] ^ state[x]
      state[z] = mixed << bits | mixed >> (32 - bits)
    }
    mix(a, b, d, 16)
    mix(c, d, b, 12)
    mix(a, b, d, 8)
    mix(c, d, b, 7)
  }

  /// Little-endian.
  private static func words(_ bytes: [UInt8]) -> [UInt32] {
    stride(from: 0, to: bytes.count, by: 4).map { start in
      bytes[start..<start + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
  }
}
