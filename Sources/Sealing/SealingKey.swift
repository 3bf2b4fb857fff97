import CSodium

/// A 256-bit key in guarded memory, shared by reference, wiped with the last reference to it and to those that were derived
/// together with it.
package final class SealingKey: Sendable {
  /// Bytes in every key, as XChaCha20-Poly1305 and BLAKE2b take them.
  package static let byteCount = 32

  /// Guarded memory that one key or several lie in.
  private final class Place: Sendable {
    let bytes: SecretBytes

    init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
  }

  private let place: Place
  /// Where in it this key begins.
  private let offset: Int

  private init(_ place: Place, at offset: Int) {
    self.place = place
    self.offset = offset
  }

  /// Takes over 32 bytes. Throws `outOfRange` on any other count.
  package init(_ bytes: consuming SecretBytes) throws(SealingError) {
    guard bytes.count == SealingKey.byteCount else { throw .outOfRange("length of a key") }
    place = Place(bytes)
    offset = 0
  }

  /// A fresh key.
  package convenience init(random: any RandomSource) throws(SealingError) {
    try self.init(SecretBytes(count: SealingKey.byteCount, random: random))
  }

  /// Whether the kernel locked its page against swap.
  package var isLocked: Bool { place.bytes.isLocked }

  /// Lends the 32 bytes.
  package func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try place.bytes.withBytes { (bytes) throws(Failure) in
      try body(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + SealingKey.byteCount]))
    }
  }

  /// The key number `number` for `purpose` (exactly 8 ASCII characters), by libsodium's crypto_kdf: BLAKE2b-256 keyed
  /// with this key, salt = number (64 bit, little endian), personalisation = purpose.
  package func derived(_ number: UInt64, for purpose: StaticString) throws(SealingError) -> SealingKey {
    try derived([number], for: purpose)[0]
  }

  /// The keys of these numbers (1 to 2,048), in one place: in places of their own, each would take two pages and nine calls
  /// of the kernel.
  package func derived(_ numbers: [UInt64], for purpose: StaticString) throws(SealingError) -> [SealingKey] {
    guard purpose.isASCII, purpose.hasPointerRepresentation, purpose.utf8CodeUnitCount == Int(crypto_kdf_CONTEXTBYTES)
    else { throw .outOfRange("length of a key's purpose") }
    let place = Place(
      try SecretBytes(count: numbers.count * SealingKey.byteCount) {
        (target: UnsafeMutableRawBufferPointer) throws(SealingError) in
        for (index, number) in numbers.enumerated() {
          let status = purpose.utf8Start.withMemoryRebound(to: CChar.self, capacity: purpose.utf8CodeUnitCount) {
            purpose in
            withBytes {
              crypto_kdf_derive_from_key(
                target.octets + index * SealingKey.byteCount, SealingKey.byteCount, number, purpose, $0.octets)
            }
          }
          guard status == 0 else { throw .outOfRange("derived key") }
        }
      })
    return numbers.indices.map { SealingKey(place, at: $0 * SealingKey.byteCount) }
  }
}
