import CSodium

/// A 256-bit key in guarded memory, shared by reference, wiped with the last reference.
package final class SealingKey: Sendable {
  /// Bytes in every key, as XChaCha20-Poly1305 and BLAKE2b take them.
  package static let byteCount = 32

  private let bytes: SecretBytes

  /// Takes over 32 bytes. Throws `outOfRange` on any other count.
  package init(_ bytes: consuming SecretBytes) throws(SealingError) {
    guard bytes.count == SealingKey.byteCount else { throw .outOfRange("length of a key") }
    self.bytes = bytes
  }

  /// A fresh key.
  package convenience init(random: any RandomSource) throws(SealingError) {
    try self.init(SecretBytes(count: SealingKey.byteCount, random: random))
  }

  /// Whether the kernel locked its page against swap.
  package var isLocked: Bool { bytes.isLocked }

  /// Lends the 32 bytes.
  package func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try bytes.withBytes(body)
  }

  /// The key number `number` for `purpose` (exactly 8 ASCII characters), by libsodium's crypto_kdf: BLAKE2b-256 keyed
  /// with this key, salt = number (64 bit, little endian), personalisation = purpose.
  package func derived(_ number: UInt64, for purpose: StaticString) throws(SealingError) -> SealingKey {
    guard purpose.isASCII, purpose.hasPointerRepresentation, purpose.utf8CodeUnitCount == Int(crypto_kdf_CONTEXTBYTES)
    else { throw .outOfRange("length of a key's purpose") }
    let subkey = try SecretBytes(count: SealingKey.byteCount) {
      (target: UnsafeMutableRawBufferPointer) throws(SealingError) in
      let status = purpose.utf8Start.withMemoryRebound(to: CChar.self, capacity: purpose.utf8CodeUnitCount) { purpose in
        withBytes { crypto_kdf_derive_from_key(target.octets, target.count, number, purpose, $0.octets) }
      }
      guard status == 0 else { throw .outOfRange("derived key") }
    }
    return try SealingKey(subkey)
  }
}
