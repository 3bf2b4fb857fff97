import Synchronization

/// The keystreams of the secrets that were written last: a token that is asked for again costs an exclusive or, where the
/// cipher takes a microsecond. They lie in guarded memory as the key does, and tell no more than it.
enum Keystreams {
  /// Secrets that are remembered at once: the tokens that a person's tools ask for in turn.
  static let slotCount = 4
  /// The longest secret that is remembered, in bytes. The slots, the key before them and the 16 bytes that libsodium puts
  /// before guarded memory, to see it overrun, fill four pages.
  static let slotBytes = 4_084
  /// Bytes of all slots.
  static let byteCount = slotCount * slotBytes

  private struct Slots: @unchecked Sendable {
    /// Never freed. Without guarded memory nothing is remembered.
    let memory: UnsafeMutablePointer<UInt8>?
    /// Whose keystream each slot holds. No secret has 0.
    var nonces = [UInt64](repeating: 0, count: slotCount)

    init() { memory = ProcessKey.keystreams?.assumingMemoryBound(to: UInt8.self) }
  }

  private static let slots = Mutex(Slots())

  /// Deciphers `source` into `target`, which is as long and another.
  static func apply(to target: UnsafeMutableRawBufferPointer, from source: UnsafeRawBufferPointer, nonce: UInt64) {
    // Who finds another at it goes the way of the cipher instead of waiting.
    let isDone = slots.withLockIfAvailable { slots in
      guard let memory = slots.memory, source.count <= slotBytes else { return false }
      let number = Int(truncatingIfNeeded: nonce % UInt64(slotCount))
      let stream = memory + number * slotBytes
      if slots.nonces[number] != nonce {
        ProcessKey.writeStream(to: UnsafeMutableRawBufferPointer(start: stream, count: source.count), nonce: nonce)
        slots.nonces[number] = nonce
      }
      let (from, to) = (source.octets, target.octets)
      for index in 0..<source.count { to[index] = from[index] ^ stream[index] }
      return true
    }
    if isDone != true { ProcessKey.apply(to: target, from: source, nonce: nonce) }
  }
}
