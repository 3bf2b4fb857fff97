/// Steps through the bytes of a TOML text by TOML's grammar, statement by statement, counts what has a limit, and refuses
/// what is not TOML.
///
/// The parser behind it checks part of what it reads with `assert`: `[[[`, `a = [}` or `a = 1979-05-27T:` would end the
/// process. So this reads as strictly as the grammar is written, and nothing reaches the parser that it did not pass. What
/// it leaves to the parser is what that refuses with an error: escapes in strings, numbers and dates out of range, and keys
/// that stand twice.
struct TOMLReader {
  private let bytes: [UInt8]
  private var position = 0
  private(set) var line = 1
  private var keys = 0
  private var values = 0

  init(bytes: [UInt8]) {
    self.bytes = bytes
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func advance() {
    if peek == UInt8(ascii: "\n") { line += 1 }
    position += 1
  }

  /// Refuses a text with too many lines, and control characters, which TOML has nowhere: a parser that took one of them
  /// for the end of a line would read another text than this.
  func checkCharacters() throws(TOMLDocument.SyntaxError) {
    var line = 1
    for (index, byte) in bytes.enumerated() where byte < 0x20 || byte == 0x7F {
      switch byte {
      case UInt8(ascii: "\t"): break
      case UInt8(ascii: "\n"):
        line += 1
        guard line <= ConfigurationLimits.lines + 1 else {
          throw Self.excess(line, "has more than \(ConfigurationLimits.lines) lines")
        }
      case UInt8(ascii: "\r"):
        guard index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "\n") else {
          throw TOMLDocument.SyntaxError(line: line, reason: "not TOML: a carriage return without a line feed")
        }
      default:
        let code = String(byte, radix: 16, uppercase: true)
        throw TOMLDocument.SyntaxError(
          line: line, reason: "not TOML: a control character (U+00\(byte < 16 ? "0" : "")\(code))")
      }
    }
  }

  /// Passes blanks, line ends and comments; false at the end of the text.
  mutating func skipToStatement() -> Bool {
    while let byte = peek {
      switch byte {
      case UInt8(ascii: "#"): skipComment()
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): advance()
      default: return true
      }
    }
    return false
  }

  mutating func countKey() throws(TOMLDocument.SyntaxError) {
    keys += 1
    guard keys <= ConfigurationLimits.keys else {
      throw Self.excess(line, "has more than \(ConfigurationLimits.keys) keys")
    }
  }

  private mutating func countValue() throws(TOMLDocument.SyntaxError) {
    values += 1
    guard values <= ConfigurationLimits.values else {
      throw Self.excess(line, "has more than \(ConfigurationLimits.values) values")
    }
  }

  private func checkParts(_ count: Int) throws(TOMLDocument.SyntaxError) {
    guard count <= ConfigurationLimits.keyParts else {
      throw Self.excess(line, "has a key of more than \(ConfigurationLimits.keyParts) parts")
    }
  }

  // MARK: Statements

  /// The key of a table's header, which is passed to the end of its line.
  mutating func header() throws(TOMLDocument.SyntaxError) -> [String] {
    try pass("[")
    // The two brackets of an array of tables stand together, and so do those that close it.
    let isArray = peek == UInt8(ascii: "[")
    if isArray { advance() }
    let key = try key()
    try pass("]")
    if isArray { try pass("]") }
    try passLineEnd()
    return key
  }

  /// The parts of a key, up to its `=` or `]`.
  mutating func key() throws(TOMLDocument.SyntaxError) -> [String] {
    var parts: [String] = []
    while true {
      skipBlanks()
      parts.append(try keyPart())
      try checkParts(parts.count)
      skipBlanks()
      guard peek == UInt8(ascii: ".") else { return parts }
      advance()
    }
  }

  private mutating func keyPart() throws(TOMLDocument.SyntaxError) -> String {
    let start = position
    if let quote = peek, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
      guard !isQuoted(quote, times: 3) else { throw refusal("a key in three quotes") }
      try passString(quote)
      return String(decoding: bytes[(start + 1)..<(position - 1)], as: UTF8.self)
    }
    while let byte = peek, Self.isOfBareKey(byte) { advance() }
    guard position > start else { throw missing("a key") }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  /// Passes the `=` behind a key, its value, and the end of the line.
  mutating func passValueOfKey() throws(TOMLDocument.SyntaxError) {
    try passAssignment(depth: 0)
    try passLineEnd()
  }

  private mutating func passAssignment(depth: Int) throws(TOMLDocument.SyntaxError) {
    try pass("=")
    skipBlanks()
    try passValue(depth: depth)
  }

  private mutating func passLineEnd() throws(TOMLDocument.SyntaxError) {
    skipBlanks()
    if peek == UInt8(ascii: "#") { skipComment() }
    guard let byte = peek else { return }
    guard byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") else { throw missing("the end of the line") }
  }

  // MARK: Values

  private mutating func passValue(depth: Int) throws(TOMLDocument.SyntaxError) {
    try countValue()
    switch peek {
    case UInt8(ascii: "\""), UInt8(ascii: "'"): try passString(peek ?? 0)
    case UInt8(ascii: "["): try passArray(depth: depth + 1)
    case UInt8(ascii: "{"): try passInlineTable(depth: depth + 1)
    default: try passScalar()
    }
  }

  private mutating func passArray(depth: Int) throws(TOMLDocument.SyntaxError) {
    try checkNesting(depth)
    try pass("[")
    while true {
      _ = skipToStatement()
      if peek == UInt8(ascii: "]") { return advance() }
      try passValue(depth: depth)
      _ = skipToStatement()
      if peek == UInt8(ascii: "]") { return advance() }
      try pass(",")
    }
  }

  private mutating func passInlineTable(depth: Int) throws(TOMLDocument.SyntaxError) {
    try checkNesting(depth)
    try pass("{")
    skipBlanks()
    if peek == UInt8(ascii: "}") { return advance() }
    while true {
      try countKey()
      _ = try key()
      try passAssignment(depth: depth)
      skipBlanks()
      if peek == UInt8(ascii: "}") { return advance() }
      try pass(",")
    }
  }

  private mutating func passScalar() throws(TOMLDocument.SyntaxError) {
    let start = position
    skipScalar()
    guard position > start else { throw missing("a value") }
    // A date and its time may have a blank between them.
    if peek == UInt8(ascii: " "), position + 1 < bytes.count, TOMLScalar.isDigit(bytes[position + 1]),
      TOMLScalar.isDate(bytes[start..<position])
    {
      advance()
      skipScalar()
    }
    guard TOMLScalar.isValid(bytes[start..<position]) else {
      throw refusal("a value that is neither text in quotes nor true, false, a number or a date")
    }
  }

  private mutating func skipScalar() {
    while let byte = peek, !TOMLScalar.isEnd(byte) { advance() }
  }

  private mutating func passString(_ quote: UInt8) throws(TOMLDocument.SyntaxError) {
    let begin = line
    let isLong = isQuoted(quote, times: 3)
    let length = isLong ? 3 : 1
    for _ in 1...length { advance() }
    while let byte = peek {
      if isQuoted(quote, times: length) {
        for _ in 1...length { advance() }
        // Up to two quotes may stand before the closing ones.
        for _ in 1...2 where isLong && peek == quote { advance() }
        return
      }
      if byte == UInt8(ascii: "\n"), !isLong { break }
      if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") { advance() }
      if peek == UInt8(ascii: "\n"), !isLong { break }
      advance()
    }
    throw TOMLDocument.SyntaxError(line: begin, reason: "not TOML: the text in quotes does not end")
  }

  private func isQuoted(_ quote: UInt8, times: Int) -> Bool {
    position + times <= bytes.count && bytes[position..<(position + times)].allSatisfy { $0 == quote }
  }

  private static func isOfBareKey(_ byte: UInt8) -> Bool {
    TOMLScalar.isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
  }

  // MARK: Steps

  private mutating func skipComment() {
    while let byte = peek, byte != UInt8(ascii: "\n") { advance() }
  }

  private mutating func skipBlanks() {
    while let byte = peek, byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") { advance() }
  }

  private mutating func pass(_ mark: Unicode.Scalar) throws(TOMLDocument.SyntaxError) {
    guard peek == UInt8(ascii: mark) else { throw missing("‘\(mark)’") }
    advance()
  }

  private func missing(_ what: String) -> TOMLDocument.SyntaxError { refusal("\(what) is missing here") }

  private func refusal(_ what: String) -> TOMLDocument.SyntaxError {
    TOMLDocument.SyntaxError(line: line, reason: "not TOML: \(what)")
  }

  private func checkNesting(_ depth: Int) throws(TOMLDocument.SyntaxError) {
    guard depth <= ConfigurationLimits.nesting else {
      throw Self.excess(line, "is nested deeper than \(ConfigurationLimits.nesting)")
    }
  }

  private static func excess(_ line: Int, _ what: String) -> TOMLDocument.SyntaxError {
    TOMLDocument.SyntaxError(line: line, reason: "the file \(what)")
  }
}
