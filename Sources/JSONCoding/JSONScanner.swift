/// Reads one JSON value from bytes that are known to be UTF-8.
struct JSONScanner {
  typealias Malformed = JSONShape.Malformed

  /// Longest number: longer ones say nothing that a double holds.
  static let numberBytes = 32

  let bytes: [UInt8]
  let nesting: Int
  /// Whether a string may hold one, as an escape.
  let takesNUL: Bool
  var at = 0
  var duplicateKey: [UInt8]?

  init(bytes: [UInt8], nesting: Int, takesNUL: Bool) {
    self.bytes = bytes
    self.nesting = nesting
    self.takesNUL = takesNUL
  }

  /// Of a text that was read before, at the value that begins at `place`.
  init(again bytes: [UInt8], at place: Int) {
    self.init(bytes: bytes, nesting: .max, takesNUL: true)
    at = place
  }

  var isAtEnd: Bool { at == bytes.count }
  private var next: UInt8? { at < bytes.count ? bytes[at] : nil }

  mutating func skipBlanks() throws(Malformed) {
    while let byte = next {
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\t"): at += 1
      case UInt8(ascii: "\r"): throw Malformed(reason: "it holds a carriage return: a line ends with a line feed alone")
      case UInt8(ascii: "\n"): throw Malformed(reason: "it holds a line feed: one message is one line")
      default: return
      }
    }
  }

  mutating func value(depth: Int) throws(Malformed) -> JSONShape.Value {
    let start = at
    guard let byte = next else { throw Malformed(reason: "it ends too early") }
    switch byte {
    case UInt8(ascii: "{"):
      let members = try object(depth: depth + 1)
      return .init(kind: .object, range: start..<at, members: members)
    case UInt8(ascii: "["):
      _ = try array(depth: depth + 1, collecting: false)
      return .init(kind: .array, range: start..<at)
    case UInt8(ascii: "\""):
      _ = try string(collecting: false)
      return .init(kind: .string, range: start..<at)
    case UInt8(ascii: "t"):
      try word("true")
      return .init(kind: .bool, range: start..<at)
    case UInt8(ascii: "f"):
      try word("false")
      return .init(kind: .bool, range: start..<at)
    case UInt8(ascii: "n"):
      try word("null")
      return .init(kind: .null, range: start..<at)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      try number()
      return .init(kind: .number, range: start..<at)
    default:
      throw unexpected()
    }
  }

  private mutating func object(depth: Int) throws(Malformed) -> [JSONShape.Member] {
    try checkNesting(depth)
    at += 1
    var members: [JSONShape.Member] = []
    var keys = KeysSeen()
    try skipBlanks()
    if take("}") { return members }
    while true {
      try skipBlanks()
      guard next == UInt8(ascii: "\"") else { throw unexpected() }
      let key = try string(collecting: true)
      if !keys.insert(key, beside: members), duplicateKey == nil { duplicateKey = key }
      try skipBlanks()
      guard take(":") else { throw unexpected() }
      try skipBlanks()
      members.append(.init(key: key, value: try value(depth: depth)))
      try skipBlanks()
      if take(",") { continue }
      if take("}") { return members }
      throw unexpected()
    }
  }

  /// The values when `collecting`, else none.
  mutating func array(depth: Int, collecting: Bool) throws(Malformed) -> [JSONShape.Value] {
    try checkNesting(depth)
    at += 1
    var values: [JSONShape.Value] = []
    try skipBlanks()
    if take("]") { return values }
    while true {
      try skipBlanks()
      let value = try value(depth: depth)
      if collecting { values.append(value) }
      try skipBlanks()
      if take(",") { continue }
      if take("]") { return values }
      throw unexpected()
    }
  }

  /// Unescaped bytes when `collecting`, else none: values are not copied about without need.
  mutating func string(collecting: Bool) throws(Malformed) -> [UInt8] {
    var text: [UInt8] = []
    at += 1
    while true {
      let start = at
      while let byte = next, byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { at += 1 }
      if collecting { text.append(contentsOf: bytes[start..<at]) }
      switch next {
      case UInt8(ascii: "\""):
        at += 1
        return text
      case UInt8(ascii: "\\"):
        let scalar = try escape()
        if collecting { text.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter) }
      case nil: throw Malformed(reason: "a string does not end")
      default: throw Malformed(reason: "a string holds a raw control character at byte \(at)")
      }
    }
  }

  private mutating func escape() throws(Malformed) -> Unicode.Scalar {
    at += 1
    guard let byte = next else { throw Malformed(reason: "a string does not end") }
    at += 1
    switch byte {
    case UInt8(ascii: "\""): return "\""
    case UInt8(ascii: "\\"): return "\\"
    case UInt8(ascii: "/"): return "/"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try unicodeEscape()
    default: throw Malformed(reason: "a string holds an unknown escape at byte \(at - 2)")
    }
  }

  private mutating func unicodeEscape() throws(Malformed) -> Unicode.Scalar {
    let start = at - 2
    var code = try hexQuad()
    if code == 0, !takesNUL { throw Malformed(reason: "a string holds a NUL at byte \(start)") }
    if (0xD800..<0xDC00).contains(code), next == UInt8(ascii: "\\"), at + 1 < bytes.count,
      bytes[at + 1] == UInt8(ascii: "u")
    {
      at += 2
      let low = try hexQuad()
      guard (0xDC00..<0xE000).contains(low) else {
        throw Malformed(reason: "a string holds a lone surrogate at byte \(start)")
      }
      code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(code) else {
      throw Malformed(reason: "a string holds a lone surrogate at byte \(start)")
    }
    return scalar
  }

  private mutating func hexQuad() throws(Malformed) -> UInt32 {
    guard at + 4 <= bytes.count else { throw Malformed(reason: "a string does not end") }
    var code: UInt32 = 0
    for byte in bytes[at..<at + 4] {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else {
        throw Malformed(reason: "a string holds an unknown escape at byte \(at - 2)")
      }
      code = code << 4 | UInt32(digit)
    }
    at += 4
    return code
  }

  private mutating func number() throws(Malformed) {
    let start = at
    _ = take("-")
    if !take("0") { try digits() }
    if take(".") { try digits() }
    if take("e") || take("E") {
      if !take("+") { _ = take("-") }
      try digits()
    }
    guard at - start <= Self.numberBytes,
      let double = Double(String(decoding: bytes[start..<at], as: UTF8.self)), double.isFinite
    else { throw Malformed(reason: "the number at byte \(start) is out of range") }
  }

  private mutating func digits() throws(Malformed) {
    let start = at
    while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { at += 1 }
    if at == start { throw unexpected() }
  }

  private mutating func word(_ word: StaticString) throws(Malformed) {
    let matches = word.withUTF8Buffer { bytes[at...].starts(with: $0) }
    guard matches else { throw unexpected() }
    at += word.utf8CodeUnitCount
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    at += 1
    return true
  }

  private func checkNesting(_ depth: Int) throws(Malformed) {
    if depth > nesting { throw Malformed(reason: "it is nested deeper than \(nesting)") }
  }

  private func unexpected() -> Malformed {
    isAtEnd ? Malformed(reason: "it ends too early") : Malformed(reason: "byte \(at) is unexpected")
  }
}

/// The keys of one object. The first ones are compared one by one: most objects have few, and the first `Set` of a process
/// makes Swift's runtime read through all conformances that are linked.
private struct KeysSeen {
  private static let few = 16
  private var many: Set<[UInt8]> = []

  /// False where it is among those of `members`, which are all that came before.
  mutating func insert(_ key: [UInt8], beside members: [JSONShape.Member]) -> Bool {
    if members.count < Self.few { return !members.contains { $0.key == key } }
    if members.count == Self.few { many = Set(members.map(\.key)) }
    return many.insert(key).inserted
  }
}
