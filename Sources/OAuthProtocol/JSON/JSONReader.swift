import HTTPTerms
import Sealing

/// A strict reader of RFC 8259 over borrowed bytes. Strings go straight into wiped memory; nothing else keeps a copy.
struct JSONReader {
  /// Deepest nesting, far more than metadata, key sets and token answers use.
  private static let depthLimit = 16
  /// Most values of one text: a key set of a hundred keys has a thousand.
  private static let valueLimit = 20_000
  /// Bytes of a number that are read: those that this protocol counts with have some ten.
  static let numberLimitBytes = 512

  private let bytes: UnsafeRawBufferPointer
  private var position = 0
  private var values = 0

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  /// One object and nothing after it; what was read before a problem is kept.
  mutating func readDocument() -> ([JSONObject.Member], JSONProblem?) {
    var members: [JSONObject.Member] = []
    do throws(JSONProblem) {
      skipBlanks()
      guard peek == UInt8(ascii: "{") else { throw .notAnObject }
      try readMembers(into: &members, depth: 1)
      skipBlanks()
      guard position == bytes.count else { throw .syntax }
      return (members, nil)
    } catch {
      return (members, error)
    }
  }

  /// The string values of `name` anywhere in text that is not JSON as a whole: for ``TokenAnswer``'s salvage only.
  static func strings(named name: String, in bytes: UnsafeRawBufferPointer) -> [Secret] {
    let key = Array("\"\(name)\"".utf8)
    var found: [Secret] = []
    var start = 0
    while start + key.count < bytes.count {
      guard bytes[start] == key[0], bytes[start...].starts(with: key) else {
        start += 1
        continue
      }
      var reader = JSONReader(bytes)
      reader.position = start + key.count
      reader.skipBlanks()
      if reader.take(UInt8(ascii: ":")) {
        reader.skipBlanks()
        if reader.peek == UInt8(ascii: "\""), let value = try? reader.readString() { found.append(value) }
      }
      start += key.count
    }
    return found
  }

  private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard peek == byte else { return false }
    position += 1
    return true
  }

  private mutating func skipBlanks() {
    while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
  }

  private func unexpected() -> JSONProblem { position < bytes.count ? .syntax : .cutOff }

  private mutating func readMembers(into members: inout [JSONObject.Member], depth: Int) throws(JSONProblem) {
    guard depth <= Self.depthLimit else { throw .tooDeep }
    position += 1
    skipBlanks()
    if take(UInt8(ascii: "}")) { return }
    while true {
      skipBlanks()
      guard peek == UInt8(ascii: "\"") else { throw unexpected() }
      let name = try readString()
      skipBlanks()
      guard take(UInt8(ascii: ":")) else { throw unexpected() }
      let value = try readValue(depth: depth)
      members.append(.init(name: name.text(limit: 1_024) ?? "", value: value))
      skipBlanks()
      if take(UInt8(ascii: "}")) { return }
      guard take(UInt8(ascii: ",")) else { throw unexpected() }
    }
  }

  private mutating func readValue(depth: Int) throws(JSONProblem) -> JSONValue {
    values += 1
    guard values <= Self.valueLimit else { throw .tooMany }
    skipBlanks()
    switch peek {
    case UInt8(ascii: "\""): return .string(try readString())
    case UInt8(ascii: "{"):
      var members: [JSONObject.Member] = []
      try readMembers(into: &members, depth: depth + 1)
      return .object(members)
    case UInt8(ascii: "["): return .array(try readArray(depth: depth + 1))
    case UInt8(ascii: "t"): return try readWord("true", .bool(true))
    case UInt8(ascii: "f"): return try readWord("false", .bool(false))
    case UInt8(ascii: "n"): return try readWord("null", .null)
    case .some(UInt8(ascii: "-")), .some(0x30...0x39): return .number(try readNumber())
    default: throw unexpected()
    }
  }

  private mutating func readArray(depth: Int) throws(JSONProblem) -> [JSONValue] {
    guard depth <= Self.depthLimit else { throw .tooDeep }
    position += 1
    skipBlanks()
    if take(UInt8(ascii: "]")) { return [] }
    var elements: [JSONValue] = []
    while true {
      elements.append(try readValue(depth: depth))
      skipBlanks()
      if take(UInt8(ascii: "]")) { return elements }
      guard take(UInt8(ascii: ",")) else { throw unexpected() }
    }
  }

  private mutating func readWord(_ word: StaticString, _ value: JSONValue) throws(JSONProblem) -> JSONValue {
    for byte in word.description.utf8 {
      guard take(byte) else { throw unexpected() }
    }
    return value
  }

  private mutating func readNumber() throws(JSONProblem) -> String {
    let start = position
    _ = take(UInt8(ascii: "-"))
    if !take(UInt8(ascii: "0")) { try readDigits() }
    if take(UInt8(ascii: ".")) { try readDigits() }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      try readDigits()
    }
    // Nothing tells whether more of it was to come.
    guard position < bytes.count else { throw .cutOff }
    // One that is longer is read, and judged, as its beginning.
    return String(decoding: bytes[start..<min(position, start + Self.numberLimitBytes)], as: UTF8.self)
  }

  private mutating func readDigits() throws(JSONProblem) {
    guard let first = peek, isDigit(first) else { throw unexpected() }
    while let byte = peek, isDigit(byte) { position += 1 }
  }

  /// The string at the current quote, unescaped. Its bytes need not be UTF-8: who wants text checks that.
  private mutating func readString() throws(JSONProblem) -> Secret {
    position += 1
    guard let end = bytes[position...].firstIndex(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") })
    else { throw .cutOff }
    // Unescaping never makes a string longer; the buffer for one with escapes is the rest of its bytes.
    if bytes[end] == UInt8(ascii: "\"") {
      let raw = bytes[position..<end]
      guard raw.allSatisfy({ $0 >= 0x20 }) else { throw .syntax }
      position = end + 1
      return Secret(UnsafeRawBufferPointer(rebasing: raw))
    }
    var buffer = WipedBuffer(capacity: lengthOfString())
    while let byte = peek {
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return buffer.secret()
      case UInt8(ascii: "\\"): try readEscape(into: &buffer)
      case 0..<0x20: throw .syntax
      default: buffer.append(byte)
      }
    }
    throw .cutOff
  }

  /// Bytes up to the closing quote, escapes counted as written.
  private func lengthOfString() -> Int {
    var index = position
    while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
      index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return index - position
  }

  private mutating func readEscape(into buffer: inout WipedBuffer) throws(JSONProblem) {
    guard let byte = peek else { throw .cutOff }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): buffer.append(byte)
    case UInt8(ascii: "b"): buffer.append(0x08)
    case UInt8(ascii: "f"): buffer.append(0x0C)
    case UInt8(ascii: "n"): buffer.append(0x0A)
    case UInt8(ascii: "r"): buffer.append(0x0D)
    case UInt8(ascii: "t"): buffer.append(0x09)
    case UInt8(ascii: "u"):
      var unit = UInt32(try readHex())
      if (0xD800...0xDBFF).contains(unit), take(UInt8(ascii: "\\")) {
        guard take(UInt8(ascii: "u")) else { throw unexpected() }
        let low = UInt32(try readHex())
        guard (0xDC00...0xDFFF).contains(low) else { throw .syntax }
        unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)
      }
      guard let scalar = Unicode.Scalar(unit) else { throw .syntax }
      if let encoded = UTF8.encode(scalar) { buffer.append(contentsOf: encoded) }
    default: throw .syntax
    }
  }

  private mutating func readHex() throws(JSONProblem) -> UInt16 {
    guard position + 4 <= bytes.count else { throw .cutOff }
    guard bytes[position..<position + 4].allSatisfy(isHexDigit),
      let value = UInt16(String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16)
    else { throw .syntax }
    position += 4
    return value
  }
}
