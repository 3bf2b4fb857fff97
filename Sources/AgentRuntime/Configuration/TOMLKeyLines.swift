/// One look over a TOML text before the parser's: that it is TOML and keeps the limits, and where its keys stand, which the
/// parser does not keep.
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

  /// Throws what is beyond a limit, or no TOML.
  init(_ text: String) throws(TOMLDocument.SyntaxError) {
    var reader = TOMLReader(bytes: Array(text.utf8))
    try reader.checkCharacters()
    var prefix: [String] = []
    while reader.skipToStatement() {
      let line = reader.line
      try reader.countKey()
      if reader.peek == UInt8(ascii: "[") {
        prefix = try reader.header()
        record(prefix, line)
      } else {
        let key = try reader.key()
        // A dotted key makes the tables on its way.
        for length in 1...max(key.count, 1) { record(prefix + key.prefix(length), line) }
        try reader.passValueOfKey()
      }
    }
  }

  private mutating func record(_ path: [String], _ line: Int) {
    guard !path.isEmpty else { return }
    let key = path.joined(separator: ".")
    if lines[key] == nil { lines[key] = line }
  }
}
