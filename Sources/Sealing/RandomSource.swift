import CSodium

/// The seam for randomness: nonces, keys, `state`, code verifiers, jitter.
package protocol RandomSource: Sendable {
  /// `count` unpredictable bytes, 0 or more.
  func bytes(_ count: Int) -> [UInt8]
}

/// The kernel's generator (getrandom), through libsodium.
package struct SystemRandom: RandomSource {
  package init() {}

  package func bytes(_ count: Int) -> [UInt8] {
    guard count > 0 else { return [] }
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      randombytes_buf(buffer.octets, count)
      filled = count
    }
  }
}
