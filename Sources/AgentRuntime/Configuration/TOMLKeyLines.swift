/// Where the keys of a TOML text stand. The parser does not keep it. Reads valid TOML only: what a value holds (keys in
/// inline tables too) is passed over.
struct TOMLKeyLines: Sendable {
  private var lines: [String: Int] = [:]

  /// The line of a dotted key, or of the innermost table around it, counted from 1.
  func line(of key: String) -> Int? {
    var key = key[...]
    while true {
      if let line = lines[String(key)] { return line }
      guard let dot = key.lastIndex(of: ".") else { return nil }
      key = key[..<dot]
    }
  }

  init(_ text: String) {
    var reader = Reader(bytes: Array(text.utf8))
    var prefix: [String] = []
    while reader.skipToStatement() {
      let line = reader.line
      if reader.peek == UInt8(ascii: "[") {
        while reader.peek == UInt8(ascii: "[") { reader.advance() }
        prefix = reader.key()
        record(prefix, line)
        reader.skipValue()
      } else {
        let key = reader.key()
        // A dotted key makes the tables on its way.
        for length in 1...max(key.count, 1) { record(prefix + key.prefix(length), line) }
        reader.skipValue()
      }
    }
  }

  private mutating func record(_ path: [String], _ line: Int) {
    guard !path.isEmpty else { return }
    let key = path.joined(separator: ".")
    if lines[key] == nil { lines[key] = line }
  }
}

private struct Reader {
  let bytes: [UInt8]
  private var position = 0
  private(set) var line = 1

  init(bytes: [UInt8]) { self.bytes = bytes }

  var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  mutating func advance() {
    if peek == UInt8(ascii: "\n") { line += 1 }
    position += 1
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

  /// The parts of a key, up to its `=` or `]`.
  mutating func key() -> [String] {
    var parts: [String] = []
    var part: [UInt8] = []
    while let byte = peek, byte != UInt8(ascii: "="), byte != UInt8(ascii: "]"), byte != UInt8(ascii: "\n") {
      switch byte {
      case UInt8(ascii: "."):
        parts.append(String(decoding: part, as: UTF8.self))
        part = []
        advance()
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        advance()
        while let inner = peek, inner != byte, inner != UInt8(ascii: "\n") {
          part.append(inner)
          advance()
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
  mutating func skipValue() {
    var depth = 0
    while let byte = peek {
      switch byte {
      case UInt8(ascii: "#"): skipComment()
      case UInt8(ascii: "\""), UInt8(ascii: "'"): skipString(byte)
      case UInt8(ascii: "["), UInt8(ascii: "{"):
        depth += 1
        advance()
      case UInt8(ascii: "]"), UInt8(ascii: "}"):
        depth = max(depth - 1, 0)
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
    let isLong = bytes[position...].starts(with: [quote, quote, quote])
    let end = isLong ? [quote, quote, quote] : [quote]
    for _ in end { advance() }
    while let byte = peek {
      if bytes[position...].starts(with: end) {
        for _ in end { advance() }
        // Up to two quotes may stand before the closing ones.
        while isLong, peek == quote { advance() }
        return
      }
      if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") { advance() }
      advance()
    }
  }
}
