import CSodium

/// Argon2id (RFC 9106, one lane): a key out of something a person types.
package enum PasswordHash {
  package static let saltCount = Int(crypto_pwhash_SALTBYTES)

  /// What one hash costs. Values read from a file are refused outside these ranges before any memory is asked for: a
  /// planted header must be neither a memory bomb nor a free guess.
  package struct Cost: Equatable, Sendable {
    package static let passesRange: ClosedRange<UInt32> = 1...16
    package static let memoryKiBRange: ClosedRange<UInt32> = 8_192...2_097_152

    /// Passes over the memory.
    package let passes: UInt32
    /// Memory used, in KiB.
    package let memoryKiB: UInt32

    /// Throws `outOfRange` outside 1 to 16 passes and 8 MiB to 2 GiB.
    package init(passes: UInt32, memoryKiB: UInt32) throws(SealingError) {
      guard Cost.passesRange.contains(passes) else { throw .outOfRange("Argon2id passes") }
      guard Cost.memoryKiBRange.contains(memoryKiB) else { throw .outOfRange("Argon2id memory") }
      self.passes = passes
      self.memoryKiB = memoryKiB
    }

    private init(checkedPasses passes: UInt32, checkedMemoryKiB memoryKiB: UInt32) {
      self.passes = passes
      self.memoryKiB = memoryKiB
    }

    /// 2 passes, 64 MiB: for codes that are random already.
    package static let interactive = Cost(checkedPasses: 2, checkedMemoryKiB: 65_536)
    /// 3 passes, 256 MiB: for passphrases.
    package static let moderate = Cost(checkedPasses: 3, checkedMemoryKiB: 262_144)
    /// 12 passes, 256 MiB: more memory would be more than the service may take.
    package static let sensitive = Cost(checkedPasses: 12, checkedMemoryKiB: 262_144)
  }

  /// The key for `password` and a 16-byte `salt`. Blocks its thread for 0.1 s to some seconds and uses the memory
  /// that `cost` says. Throws `outOfRange` for a salt of another length, `outOfMemory`.
  package static func argon2id(_ password: Secret, salt: [UInt8], cost: Cost) throws(SealingError) -> SealingKey {
    guard salt.count == saltCount else { throw .outOfRange("length of a salt") }
    guard password.count <= 4_096 else { throw .outOfRange("length of a password") }
    let bytes = try SecretBytes(count: SealingKey.byteCount) {
      (target: UnsafeMutableRawBufferPointer) throws(SealingError) in
      let status = password.withBytes { password in
        password.octets.withMemoryRebound(to: CChar.self, capacity: max(password.count, 1)) { text in
          crypto_pwhash(
            target.octets, UInt64(target.count), text, UInt64(password.count), salt,
            UInt64(cost.passes), Int(cost.memoryKiB) * 1_024, crypto_pwhash_ALG_ARGON2ID13)
        }
      }
      guard status == 0 else { throw .outOfMemory }
    }
    return try SealingKey(bytes)
  }
}
