import CSodium

/// BLAKE2b with a key (RFC 7693 §2.9): a pseudorandom function and a message authentication code.
package enum KeyedHash {
  /// `count` bytes, 16 to 64, over `bytes`. Throws `outOfRange` otherwise.
  package static func blake2b(
    _ bytes: some Collection<UInt8>, key: SealingKey, count: Int = 32
  ) throws(SealingError) -> [UInt8] {
    guard (16...64).contains(count) else { throw .outOfRange("length of a keyed hash") }
    var status: Int32 = -1
    let hash = [UInt8](unsafeUninitializedCapacity: count) { hash, filled in
      status = withContiguousBytes(bytes) { bytes in
        key.withBytes { key in
          crypto_generichash(hash.octets, count, bytes.octets, UInt64(bytes.count), key.octets, key.count)
        }
      }
      filled = count
    }
    guard status == 0 else { throw .outOfRange("keyed hash") }
    return hash
  }
}
