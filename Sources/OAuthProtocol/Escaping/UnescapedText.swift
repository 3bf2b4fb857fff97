/// A text read as one that was escaped would be, each byte with the place in the first text that it comes from.
struct UnescapedText {
  private(set) var bytes: [UInt8]
  /// For each byte, the bytes of the first text that stand for it.
  private(set) var sources: [Range<Int>]

  init(plain bytes: [UInt8]) {
    self.bytes = bytes
    sources = bytes.indices.map { $0..<($0 + 1) }
  }

  static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), 0x80...:
      true
    default: false
    }
  }

  /// Without signs and blanks.
  func lettersAndDigits() -> UnescapedText {
    var result = UnescapedText(plain: [])
    for (index, byte) in bytes.enumerated() where Self.isLetterOrDigit(byte) {
      result.append(byte, from: sources[index])
    }
    return result
  }

  /// `%41`, `+`, `\u0041`, `\x41`, `\"`, `&#65;`, `&#x41;` and `&amp;` as what they stand for; what is no escape stays.
  func unescaped() -> UnescapedText {
    var result = UnescapedText(plain: [])
    var index = 0
    while index < bytes.count {
      if let (value, length) = escape(at: index) {
        let source = sources[index].lowerBound..<sources[index + length - 1].upperBound
        for byte in value { result.append(byte, from: source) }
        index += length
      } else {
        result.append(bytes[index], from: sources[index])
        index += 1
      }
    }
    return result
  }

  private mutating func append(_ byte: UInt8, from source: Range<Int>) {
    bytes.append(byte)
    sources.append(source)
  }

  private func escape(at index: Int) -> (value: [UInt8], length: Int)? {
    switch bytes[index] {
    case UInt8(ascii: "+"): return ([0x20], 1)
    case UInt8(ascii: "%"): return number(at: index + 1, digits: 2, radix: 16).map { ([UInt8($0)], 3) }
    case UInt8(ascii: "\\"): return backslash(at: index + 1)
    case UInt8(ascii: "&"): return entity(at: index)
    default: return nil
    }
  }

  private func backslash(at index: Int) -> (value: [UInt8], length: Int)? {
    guard index < bytes.count else { return nil }
    switch bytes[index] {
    case UInt8(ascii: "u"): return number(at: index + 1, digits: 4, radix: 16).map { (Self.character($0), 6) }
    case UInt8(ascii: "x"): return number(at: index + 1, digits: 2, radix: 16).map { (Self.character($0), 4) }
    case UInt8(ascii: "n"): return ([0x0A], 2)
    case UInt8(ascii: "r"): return ([0x0D], 2)
    case UInt8(ascii: "t"): return ([0x09], 2)
    case let byte: return ([byte], 2)
    }
  }

  private func entity(at index: Int) -> (value: [UInt8], length: Int)? {
    // The longest is `&#1114111;`.
    guard let end = bytes[index...].prefix(10).firstIndex(of: UInt8(ascii: ";")) else { return nil }
    let length = end + 1 - index
    switch String(decoding: bytes[(index + 1)..<end], as: UTF8.self).lowercased() {
    case "amp": return ([UInt8(ascii: "&")], length)
    case "lt": return ([UInt8(ascii: "<")], length)
    case "gt": return ([UInt8(ascii: ">")], length)
    case "quot": return ([UInt8(ascii: "\"")], length)
    case "apos": return ([UInt8(ascii: "'")], length)
    case let name where name.hasPrefix("#x"):
      return Int(name.dropFirst(2), radix: 16).map { (Self.character($0), length) }
    case let name where name.hasPrefix("#"): return Int(name.dropFirst()).map { (Self.character($0), length) }
    default: return nil
    }
  }

  private func number(at start: Int, digits: Int, radix: Int) -> Int? {
    guard start + digits <= bytes.count else { return nil }
    var value = 0
    for byte in bytes[start..<(start + digits)] {
      switch byte {
      case 0x30...0x39: value = value * radix + Int(byte) - 0x30
      case 0x41...0x46: value = value * radix + Int(byte) - 0x41 + 10
      case 0x61...0x66: value = value * radix + Int(byte) - 0x61 + 10
      default: return nil
      }
    }
    return value
  }

  private static func character(_ value: Int) -> [UInt8] {
    guard let number = UInt32(exactly: value), let scalar = Unicode.Scalar(number) else { return [0x3F] }
    return Array(String(scalar).utf8)
  }
}
