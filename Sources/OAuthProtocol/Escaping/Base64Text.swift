/// Spellings of bytes in letters and digits: base 64 (RFC 4648 §4, §5) and hexadecimal.
enum Base64Text {
  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The number that a digit of either alphabet stands for.
  static func value(of byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: nil
    }
  }

  /// RFC 4648 §4, with padding: `(bytes.count + 2) / 3 * 4` digits.
  static func encode(_ bytes: UnsafeRawBufferPointer, into buffer: inout WipedBuffer) {
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(0) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
      for digit in 0..<4 {
        buffer.append(digit <= group.count ? digits[Int(bits >> UInt32(18 - 6 * digit) & 63)] : UInt8(ascii: "="))
      }
    }
  }

  static func hexadecimal(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(2 * bytes.count)
    for byte in bytes {
      for half in [byte >> 4, byte & 15] { text.append(half < 10 ? 0x30 + half : 0x57 + half) }
    }
    return text
  }

  /// The digits that `bytes` alone decide when `shift` bytes stand before them: what is seen of a secret in the base 64
  /// of a longer text.
  static func inner(_ bytes: UnsafeRawBufferPointer, shift: Int) -> [UInt8] {
    let first = (shift * 8 + 5) / 6
    let end = (shift + bytes.count) * 8 / 6
    guard end > first else { return [] }
    return (first..<end).map { digit in
      // A digit lies in one byte or in two.
      let bit = digit * 6 - shift * 8
      let high = UInt16(bytes[bit / 8]) << 8
      let low = bit / 8 + 1 < bytes.count ? UInt16(bytes[bit / 8 + 1]) : 0
      return digits[Int((high | low) >> UInt16(10 - bit % 8) & 63)]
    }
  }
}
