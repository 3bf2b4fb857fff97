import CSodium

/// Sealing to a public key: whoever has it can seal, and only the owner of the key pair can open. The sender cannot open
/// again what it has sealed, and does not say who it is.
///
/// This is libsodium's sealed box: X25519 with a fresh key pair of the sender, XSalsa20-Poly1305, the nonce being the
/// BLAKE2b of both public keys. A sealed value is the sender's public key (32 bytes) ‖ tag (16) ‖ ciphertext.
package enum SealedBox {
  /// What sealing adds to a length.
  package static let overhead = crypto_box_sealbytes()

  /// Not a secret, and enough to seal.
  package struct PublicKey: Equatable, Sendable {
    package static let byteCount = Int(crypto_box_PUBLICKEYBYTES)

    /// Exactly 32 bytes.
    package let bytes: [UInt8]

    /// Nil unless there are exactly 32 bytes.
    package init?(_ bytes: [UInt8]) {
      guard bytes.count == PublicKey.byteCount else { return nil }
      self.bytes = bytes
    }

    fileprivate init(checked bytes: [UInt8]) { self.bytes = bytes }

    package func seal(_ plaintext: UnsafeRawBufferPointer) throws(SealingError) -> [UInt8] {
      try Sodium.start()
      let total = plaintext.count + overhead
      var status: Int32 = -1
      let sealed = [UInt8](unsafeUninitializedCapacity: total) { sealed, filled in
        status = crypto_box_seal(sealed.octets, plaintext.octets, UInt64(plaintext.count), bytes)
        filled = total
      }
      // It refuses public keys of small order.
      guard status == 0 else { throw .outOfRange("public key") }
      return sealed
    }
  }

  /// Both halves, the secret one in guarded memory.
  package struct KeyPair: ~Copyable, Sendable {
    package let publicKey: PublicKey
    private let secret: SecretBytes

    /// The same pair for the same seed, always.
    package init(seed: SealingKey) throws(SealingError) {
      var publicBytes = [UInt8](repeating: 0, count: PublicKey.byteCount)
      secret = try SecretBytes(count: Int(crypto_box_SECRETKEYBYTES)) {
        (target: UnsafeMutableRawBufferPointer) throws(SealingError) in
        let status = seed.withBytes { crypto_box_seed_keypair(&publicBytes, target.octets, $0.octets) }
        guard status == 0 else { throw .outOfRange("seed of a key pair") }
      }
      publicKey = PublicKey(checked: publicBytes)
    }

    /// Throws `notAuthentic` when `sealed` is not as it was sealed, or was sealed to another key.
    package borrowing func open(_ sealed: [UInt8]) throws(SealingError) -> Secret {
      guard sealed.count >= overhead else { throw .notAuthentic }
      return try Secret(count: sealed.count - overhead) {
        (target: UnsafeMutableRawBufferPointer) throws(SealingError) in
        let status = secret.withBytes { secret in
          crypto_box_seal_open(target.octets, sealed, UInt64(sealed.count), publicKey.bytes, secret.octets)
        }
        guard status == 0 else { throw .notAuthentic }
      }
    }
  }
}
