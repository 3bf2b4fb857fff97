import CSodium

/// HMAC (RFC 2104) with SHA-256.
package enum HMAC {
  /// 32 bytes over `message`, with a key of any length.
  package static func sha256(_ message: some Collection<UInt8>, key: Secret) -> [UInt8] {
    var state = crypto_auth_hmacsha256_state()
    key.withBytes { _ = crypto_auth_hmacsha256_init(&state, $0.octets, $0.count) }
    withContiguousBytes(message) { _ = crypto_auth_hmacsha256_update(&state, $0.octets, UInt64($0.count)) }
    return [UInt8](unsafeUninitializedCapacity: Int(crypto_auth_hmacsha256_BYTES)) { code, filled in
      _ = crypto_auth_hmacsha256_final(&state, code.octets)
      sodium_memzero(&state, MemoryLayout.size(ofValue: state))
      filled = Int(crypto_auth_hmacsha256_BYTES)
    }
  }
}
