import CSodium

/// Authenticated encryption: XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha §2.3), whose 192-bit nonce may be random.
///
/// A sealed value is nonce (24 bytes) ‖ ciphertext (as long as the plaintext) ‖ tag (16 bytes).
package enum AEAD {
  package static let nonceCount = Int(crypto_aead_xchacha20poly1305_ietf_NPUBBYTES)
  package static let tagCount = Int(crypto_aead_xchacha20poly1305_ietf_ABYTES)
  /// What sealing adds to a length.
  package static let overhead = nonceCount + tagCount

  /// Seals `plaintext` and binds `associatedData` to it under a fresh random nonce.
  package static func seal(
    _ plaintext: UnsafeRawBufferPointer, associatedData: [UInt8], key: SealingKey, random: any RandomSource
  ) throws(SealingError) -> [UInt8] {
    let nonce = random.bytes(nonceCount)
    guard nonce.count == nonceCount else { throw .outOfRange("bytes given by the random source") }
    let total = plaintext.count + overhead
    var status: Int32 = -1
    let sealed = [UInt8](unsafeUninitializedCapacity: total) { sealed, filled in
      _ = sealed.update(fromContentsOf: nonce)
      status = key.withBytes { key in
        crypto_aead_xchacha20poly1305_ietf_encrypt(
          sealed.octets + nonceCount, nil, plaintext.octets, UInt64(plaintext.count),
          associatedData, UInt64(associatedData.count), nil, nonce, key.octets)
      }
      filled = total
    }
    guard status == 0 else { throw .outOfRange("length of a plaintext") }
    return sealed
  }

  /// Opens into `target`, which holds exactly `sealed.count - overhead` bytes and is zeroed on failure.
  /// Throws `notAuthentic` when anything differs from what was sealed.
  package static func open(
    _ sealed: [UInt8], associatedData: [UInt8], key: SealingKey, into target: UnsafeMutableRawBufferPointer
  ) throws(SealingError) {
    guard sealed.count >= overhead, target.count == sealed.count - overhead else { throw .notAuthentic }
    let status = sealed.withUnsafeBytes { sealed in
      key.withBytes { key in
        crypto_aead_xchacha20poly1305_ietf_decrypt(
          target.octets, nil, nil, sealed.octets + nonceCount, UInt64(sealed.count - nonceCount),
          associatedData, UInt64(associatedData.count), sealed.octets, key.octets)
      }
    }
    guard status == 0 else { throw .notAuthentic }
  }

  /// Opens into a `Secret`, for payloads.
  package static func open(
    _ sealed: [UInt8], associatedData: [UInt8], key: SealingKey
  ) throws(SealingError) -> Secret {
    guard sealed.count >= overhead else { throw .notAuthentic }
    return try Secret(count: sealed.count - overhead) { (target: UnsafeMutableRawBufferPointer) throws(SealingError) in
      try open(sealed, associatedData: associatedData, key: key, into: target)
    }
  }

  /// Opens into guarded memory, for keys.
  package static func openGuarded(
    _ sealed: [UInt8], associatedData: [UInt8], key: SealingKey
  ) throws(SealingError) -> SecretBytes {
    guard sealed.count > overhead else { throw .notAuthentic }
    return try SecretBytes(count: sealed.count - overhead) {
      (target: UnsafeMutableRawBufferPointer) throws(SealingError) in
      try open(sealed, associatedData: associatedData, key: key, into: target)
    }
  }
}
