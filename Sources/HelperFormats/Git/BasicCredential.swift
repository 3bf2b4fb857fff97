/// `user:token` in base64, as Basic authentication sends it (RFC 7617 §2).
package enum BasicCredential {
  private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  static func encode(username: String, token: String) -> String {
    let bytes = Array((username + ":" + token).utf8)
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(0) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
      for place in 0..<4 {
        text.append(
          place <= group.count ? letters[Int(bits >> UInt32(18 - 6 * place) & 0x3F)] : UInt8(ascii: "="))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The token: what stands behind the first colon. Nil for what is no such text.
  package static func token(in text: String) -> String? {
    var digits = text.utf8[...]
    guard digits.count % 4 == 0 else { return nil }
    for _ in 0..<2 where digits.last == UInt8(ascii: "=") { digits = digits.dropLast() }
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    for (place, digit) in digits.enumerated() {
      guard let value = letters.firstIndex(of: digit) else { return nil }
      bits = bits << 6 | UInt32(value)
      if place % 4 > 0 { bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(6 - 2 * (place % 4)))) }
    }
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    return String(validating: bytes[(colon + 1)...], as: UTF8.self)
  }
}
