/// Steps through the bytes of a TOML text, statement by statement, and counts what has a limit.
struct TOMLReader {
  private let bytes: [UInt8]
  private var position = 0
  private(set) var line = 1
  private var keys = 0
  private var values = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  mutating func advance() {
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
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"), 0xEF, 0xBB, 0xBF: advance()
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

  /// The parts of a key, up to its `=` or `]`.
  mutating func key() throws(TOMLDocument.SyntaxError) -> [String] {
    var parts: [String] = []
    var part: [UInt8] = []
    while let byte = peek, byte != UInt8(ascii: "="), byte != UInt8(ascii: "]"), byte != UInt8(ascii: "\n") {
      switch byte {
      case UInt8(ascii: "."):
        parts.append(String(decoding: part, as: UTF8.self))
        try checkParts(parts.count + 1)
        part = []
        advance()
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        advance()
        while let inner = peek, inner != byte, inner != UInt8(ascii: "\n") {
          part.append(inner)
          advance()
          if inner == UInt8(ascii: "\\"), byte == UInt8(ascii: "\""), let escaped = peek, escaped != UInt8(ascii: "\n")
          {
            part.append(escaped)
            advance()
          }
        }
        advance()
      default:
        if byte > 0x20 { part.append(byte) }
        advance()
      }
    }
    return parts + [String(decoding: part, as: UTF8.self)]
  }

  /// Passes everything up to the end of the statement: the line end outside strings and brackets.
  mutating func skipValue() throws(TOMLDocument.SyntaxError) {
    var depth = 0
    /// Dots since the last value or key began: a number has one, more are of a key in an inline table.
    var dots = 0
    try countValue()
    while let byte = peek {
      switch byte {
      case UInt8(ascii: "#"): skipComment()
      case UInt8(ascii: "\""), UInt8(ascii: "'"): skipString(byte)
      case UInt8(ascii: "["), UInt8(ascii: "{"):
        depth += 1
        dots = 0
        guard depth <= ConfigurationLimits.nesting else {
          throw Self.excess(line, "is nested deeper than \(ConfigurationLimits.nesting)")
        }
        advance()
      case UInt8(ascii: "]"), UInt8(ascii: "}"):
        depth = max(depth - 1, 0)
        advance()
      case UInt8(ascii: ","):
        dots = 0
        try countValue()
        advance()
      case UInt8(ascii: "="):
        dots = 0
        // The first is the statement's own, which is counted.
        if depth > 0 { try countKey() }
        advance()
      case UInt8(ascii: "."):
        dots += 1
        try checkParts(dots + 1)
        advance()
      case UInt8(ascii: "\n") where depth == 0: return advance()
      default: advance()
      }
    }
  }

  private mutating func skipComment() {
    while let byte = peek, byte != UInt8(ascii: "\n") { advance() }
  }

  private mutating func skipString(_ quote: UInt8) {
    let isLong = isQuoted(quote, times: 3)
    let length = isLong ? 3 : 1
    for _ in 1...length { advance() }
    while let byte = peek {
      if isQuoted(quote, times: length) {
        for _ in 1...length { advance() }
        // Up to two quotes may stand before the closing ones.
        while isLong, peek == quote { advance() }
        return
      }
      if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") { advance() }
      advance()
    }
  }

  private func isQuoted(_ quote: UInt8, times: Int) -> Bool {
    position + times <= bytes.count && bytes[position..<(position + times)].allSatisfy { $0 == quote }
  }

  private static func excess(_ line: Int, _ what: String) -> TOMLDocument.SyntaxError {
    TOMLDocument.SyntaxError(line: line, reason: "the file \(what)")
  }
}
