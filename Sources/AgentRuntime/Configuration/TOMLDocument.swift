import AgentWire
import CTOML

/// One TOML file as plain values, with the line each key stands on.
struct TOMLDocument: Sendable {
  indirect enum Value: Sendable, Equatable {
    case string(String)
    case bool(Bool)
    case integer(Int)
    case array([Value])
    case table([String: Value])
    /// A kind that no key takes, by its name in TOML.
    case other(String)

    /// For messages: `is a string`.
    var kind: String {
      switch self {
      case .string: "a string"
      case .bool: "a boolean"
      case .integer: "an integer"
      case .array: "an array"
      case .table: "a table"
      case .other(let name): name
      }
    }
  }

  struct SyntaxError: Error, Equatable {
    /// Counted from 1; nil where no line is to blame.
    var line: Int?
    var reason: String
  }

  /// Deepest nesting that is kept; no key needs more than a table of strings.
  private static let deepest = 4

  let values: [String: Value]
  private let lines: TOMLKeyLines
  /// Where the values stand in the file: empty, or a table's key with a dot.
  private let prefix: String

  /// Throws ``SyntaxError``.
  init(_ bytes: [UInt8]) throws(SyntaxError) {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw SyntaxError(line: Self.firstLine(in: bytes), reason: "the file is not UTF-8")
    }
    // Names and addresses become C strings further on: what follows a NUL would be lost silently.
    for needle in ["\0", "\\u0000", "\\U00000000"] {
      if let place = text.range(of: needle) {
        throw SyntaxError(line: Self.line(of: place, in: text), reason: "a NUL character is not allowed")
      }
    }
    lines = try TOMLKeyLines(text)
    prefix = ""
    values = try Self.read(bytes)
  }

  /// The line of `key` (`a`, or `a.b` inside a table), counted from 1.
  func line(of key: String) -> Int? { lines.line(of: prefix + key) }

  private init(_ values: [String: Value], _ lines: TOMLKeyLines, _ prefix: String) {
    self.values = values
    self.lines = lines
    self.prefix = prefix
  }

  /// A table of this document as one of its own, whose keys stand where they stand here; nil where there is none.
  func table(_ key: String) -> TOMLDocument? {
    guard case .table(let members) = values[key] else { return nil }
    return TOMLDocument(members, lines, prefix + key + ".")
  }

  /// The same with each text changed, and with `more` where nothing stands under its keys.
  func changed(adding more: [String: Value] = [:], _ change: (String) -> String) -> TOMLDocument {
    TOMLDocument(values.mapValues { $0.changed(change) }.merging(more) { here, _ in here }, lines, prefix)
  }

  /// The line of `key` in a text that was read before.
  static func line(of key: String, in bytes: [UInt8]) -> Int? {
    (try? TOMLKeyLines(String(decoding: bytes, as: UTF8.self)))?.line(of: key)
  }

  private static func read(_ bytes: [UInt8]) throws(SyntaxError) -> [String: Value] {
    var problem = ctoml_problem()
    let document = bytes.withUnsafeBytes { text in
      ctoml_read(text.baseAddress?.assumingMemoryBound(to: CChar.self), text.count, &problem)
    }
    guard let document, let all = ctoml_values(document) else {
      let reason = withUnsafeBytes(of: problem.reason) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      throw SyntaxError(line: problem.line > 0 ? Int(problem.line) : nil, reason: sentence(reason))
    }
    defer { ctoml_free(document) }
    return table(all, 0, depth: 0)
  }

  /// The members of the table that is the value at `place`.
  private static func table(_ all: UnsafePointer<ctoml_value>, _ place: Int, depth: Int) -> [String: Value] {
    var values: [String: Value] = [:]
    for member in members(all, place) {
      values[text(all[member].key, all[member].key_bytes)] = value(all, member, depth: depth + 1)
    }
    return values
  }

  private static func value(_ all: UnsafePointer<ctoml_value>, _ place: Int, depth: Int) -> Value {
    guard depth <= deepest else { return .other("a value nested too deep") }
    let found = all[place]
    switch found.kind {
    case CTOML_STRING: return .string(text(found.string, found.string_bytes))
    case CTOML_BOOLEAN: return .bool(found.integer != 0)
    case CTOML_ARRAY: return .array(members(all, place).map { value(all, $0, depth: depth + 1) })
    case CTOML_TABLE: return .table(table(all, place, depth: depth))
    case CTOML_INTEGER: return .integer(Int(found.integer))
    case CTOML_FLOAT: return .other("a floating-point number")
    default: return .other("a date or time")
    }
  }

  /// Where the values stand that are right inside the one at `place`.
  private static func members(_ all: UnsafePointer<ctoml_value>, _ place: Int) -> some Sequence<Int> {
    sequence(first: place + 1) { all[$0].end }.prefix { $0 < all[place].end }
  }

  private static func text(_ start: UnsafePointer<CChar>?, _ bytes: Int) -> String {
    String(decoding: UnsafeRawBufferPointer(start: start, count: bytes), as: UTF8.self)
  }

  private static func firstLine(in bytes: [UInt8]) -> Int? {
    var line = 1
    for piece in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
      if String(validating: piece, as: UTF8.self) == nil { return line }
      line += 1
    }
    return nil
  }

  private static func line(of place: Range<String.Index>, in text: String) -> Int {
    text.utf8[..<place.lowerBound].reduce(1) { $1 == 0x0A ? $0 + 1 : $0 }
  }

  /// The parser's words begin with `Error while parsing …`, and may repeat the text.
  private static func sentence(_ description: String) -> String {
    "not TOML: " + PrintableText.escaped(description, limit: 300)
  }
}

extension TOMLDocument.Value {
  fileprivate func changed(_ change: (String) -> String) -> Self {
    switch self {
    case .string(let text): .string(change(text))
    case .array(let items): .array(items.map { $0.changed(change) })
    case .table(let members): .table(members.mapValues { $0.changed(change) })
    case .bool, .integer, .other: self
    }
  }
}

extension String {
  /// The first place of `needle`, which is ASCII.
  fileprivate func range(of needle: String) -> Range<String.Index>? {
    let (bytes, wanted) = (utf8, Array(needle.utf8))
    var start = bytes.startIndex
    while let found = bytes[start...].firstIndex(of: wanted[0]) {
      if bytes[found...].starts(with: wanted) {
        return found..<bytes.index(found, offsetBy: wanted.count)
      }
      start = bytes.index(after: found)
    }
    return nil
  }
}
