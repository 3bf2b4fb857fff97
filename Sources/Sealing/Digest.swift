import CSodium

/// Unkeyed digests.
package enum Digest {
  /// SHA-256 (FIPS 180-4): 32 bytes.
  package static func sha256(_ bytes: some Collection<UInt8>) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Int(crypto_hash_sha256_BYTES)) { digest, filled in
      withContiguousBytes(bytes) { _ = crypto_hash_sha256(digest.octets, $0.octets, UInt64($0.count)) }
      filled = Int(crypto_hash_sha256_BYTES)
    }
  }

  /// SHA-256 of the bytes of a secret, read in place.
  package static func sha256(_ secret: Secret) -> [UInt8] {
    secret.withBytes { sha256($0) }
  }
}
