import CSodium

/// base64url without padding (RFC 4648 §5, RFC 7636 Appendix A).
package enum Base64URL {
  private static let variant = Int32(sodium_base64_VARIANT_URLSAFE_NO_PADDING)

  package static func encode(_ bytes: some Collection<UInt8>) -> String { encode(bytes, variant) }

  /// Base 64 with its own alphabet and padding (RFC 4648 §4).
  package static func padded(_ bytes: some Collection<UInt8>) -> String {
    encode(bytes, Int32(sodium_base64_VARIANT_ORIGINAL))
  }

  private static func encode(_ bytes: some Collection<UInt8>, _ variant: Int32) -> String {
    withContiguousBytes(bytes) { bytes in
      let length = sodium_base64_encoded_len(bytes.count, variant)
      return String(unsafeUninitializedCapacity: length) { text in
        text.octets.withMemoryRebound(to: CChar.self, capacity: length) {
          _ = sodium_bin2base64($0, length, bytes.octets, bytes.count, variant)
        }
        return length - 1  // without the NUL
      }
    }
  }

  /// Nil unless `text` is exactly what `encode` would have written: no padding, blanks, foreign characters or stray
  /// bits in the last character.
  package static func decode(_ text: String) -> [UInt8]? {
    var text = text
    return text.withUTF8 { text in
      let capacity = text.count / 4 * 3 + 3
      var whole = false
      let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { bytes, filled in
        var length = 0
        let status = text.withMemoryRebound(to: CChar.self) {
          sodium_base642bin(bytes.octets, capacity, $0.baseAddress, $0.count, nil, &length, nil, variant)
        }
        whole = status == 0
        filled = whole ? length : 0
      }
      return whole ? bytes : nil
    }
  }
}
