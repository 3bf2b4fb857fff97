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

  static func isASCIILetterOrDigit(_ byte: UInt8) -> Bool { byte < 0x80 && isLetterOrDigit(byte) }

  /// Without signs and blanks. Those beyond ASCII, such as dashes, blanks without width and marks over letters, are left
  /// out together with the letters there, by another `isKept`.
  func lettersAndDigits(_ isKept: (UInt8) -> Bool = Self.isLetterOrDigit) -> UnescapedText {
    var result = UnescapedText(plain: [])
    for (index, byte) in bytes.enumerated() where isKept(byte) {
      result.append(byte, from: sources[index])
    }
    return result
  }

  /// The two bytes that each character stands for where a text was taken for UTF-16.
  func pairs(bigEndian: Bool) -> UnescapedText {
    var result = UnescapedText(plain: [])
    var index = 0
    while index < bytes.count {
      let length = bytes[index] < 0xE0 ? (bytes[index] < 0xC0 ? 1 : 2) : bytes[index] < 0xF0 ? 3 : 4
      let end = min(index + length, bytes.count)
      let source = sources[index].lowerBound..<sources[end - 1].upperBound
      if length == 3, let unit = String(decoding: bytes[index..<end], as: UTF8.self).utf16.first {
        let pair = [UInt8(unit >> 8), UInt8(unit & 255)]
        for byte in bigEndian ? pair : pair.reversed() { result.append(byte, from: source) }
      }
      index = end
    }
    return result
  }

  /// Without what may be tags of HTML: what stands between `<` and the next `>`.
  func withoutTags() -> UnescapedText {
    var result = UnescapedText(plain: [])
    // Looked for once: a text of `<` alone would else be read anew from each of them.
    let lastEnd = bytes.lastIndex(of: UInt8(ascii: ">")) ?? -1
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "<"), index < lastEnd,
        let end = bytes[index...].firstIndex(of: UInt8(ascii: ">"))
      {
        index = end + 1
      } else {
        result.append(bytes[index], from: sources[index])
        index += 1
      }
    }
    return result
  }

  /// `%41`, `+`, `\u0041`, `\u{41}`, `\x41`, `\101`, `\"`, `=41`, `&#65;`, `&#x41` and `&amp;` as what they stand for, and any
  /// other name between `&` and `;` as a blank; what is no escape stays.
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
    // Quoted-printable (RFC 2045 §6.7).
    case UInt8(ascii: "="): return number(at: index + 1, digits: 2, radix: 16).map { ([UInt8($0)], 3) }
    case UInt8(ascii: "&"): return entity(at: index)
    default: return nil
    }
  }

  private func backslash(at index: Int) -> (value: [UInt8], length: Int)? {
    guard index < bytes.count else { return nil }
    switch bytes[index] {
    case UInt8(ascii: "u"):
      return bracedNumber(at: index + 1) ?? number(at: index + 1, digits: 4, radix: 16).map { (Self.character($0), 6) }
    case UInt8(ascii: "x"): return number(at: index + 1, digits: 2, radix: 16).map { (Self.character($0), 4) }
    case UInt8(ascii: "n"): return ([0x0A], 2)
    case UInt8(ascii: "r"): return ([0x0D], 2)
    case UInt8(ascii: "t"): return ([0x09], 2)
    case let byte:
      return number(at: index, digits: 3, radix: 8).map { (Self.character($0), 4) } ?? ([byte], 2)
    }
  }

  /// `{41}`, of one to six digits.
  private func bracedNumber(at index: Int) -> (value: [UInt8], length: Int)? {
    guard index < bytes.count, bytes[index] == UInt8(ascii: "{"),
      let end = bytes[index...].prefix(8).firstIndex(of: UInt8(ascii: "}")),
      let value = number(at: index + 1, digits: end - index - 1, radix: 16)
    else { return nil }
    return (Self.character(value), end - index + 3)
  }

  private func entity(at index: Int) -> (value: [UInt8], length: Int)? {
    if bytes[index...].starts(with: "&#".utf8) { return numberedEntity(at: index) }
    // The longest name has 31 letters. Browsers take some without the end.
    let name = bytes[(index + 1)...].prefix(31).prefix(while: Self.isASCIILetterOrDigit)
    guard !name.isEmpty else { return nil }
    let end = name.endIndex
    let length = end - index + (end < bytes.count && bytes[end] == UInt8(ascii: ";") ? 1 : 0)
    switch String(decoding: name, as: UTF8.self).lowercased() {
    case "amp": return ([UInt8(ascii: "&")], length)
    case "lt": return ([UInt8(ascii: "<")], length)
    case "gt": return ([UInt8(ascii: ">")], length)
    case "quot": return ([UInt8(ascii: "\"")], length)
    case "apos": return ([UInt8(ascii: "'")], length)
    // Blanks, dashes and other signs, which may stand between words.
    default: return ([0x20], length)
    }
  }

  /// `&#65;` or `&#x41;`, with any number of zeros, and as browsers take it without the end.
  private func numberedEntity(at index: Int) -> (value: [UInt8], length: Int)? {
    var end = index + 2
    let isHexadecimal = end < bytes.count && bytes[end] | 0x20 == UInt8(ascii: "x")
    if isHexadecimal { end += 1 }
    let start = end
    var value = 0
    while end < bytes.count, let digit = Self.digit(bytes[end]), isHexadecimal || digit < 10 {
      // Beyond the last character one number is like the other.
      value = min(value * (isHexadecimal ? 16 : 10) + digit, 0x11_0000)
      end += 1
    }
    guard end > start else { return nil }
    if end < bytes.count, bytes[end] == UInt8(ascii: ";") { end += 1 }
    return (Self.character(value), end - index)
  }

  private func number(at start: Int, digits: Int, radix: Int) -> Int? {
    guard start + digits <= bytes.count else { return nil }
    var value = 0
    for byte in bytes[start..<(start + digits)] {
      guard let digit = Self.digit(byte), digit < radix else { return nil }
      value = value * radix + digit
    }
    return value
  }

  /// A hexadecimal digit's value.
  private static func digit(_ byte: UInt8) -> Int? {
    switch byte {
    case 0x30...0x39: Int(byte) - 0x30
    case 0x41...0x46: Int(byte) - 0x41 + 10
    case 0x61...0x66: Int(byte) - 0x61 + 10
    default: nil
    }
  }

  private static func character(_ value: Int) -> [UInt8] {
    guard let number = UInt32(exactly: value), let scalar = Unicode.Scalar(number) else { return [0x3F] }
    return Array(String(scalar).utf8)
  }
}
