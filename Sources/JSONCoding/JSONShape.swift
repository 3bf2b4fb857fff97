/// A JSON text (RFC 8259) that was read byte by byte before any decoder sees it.
///
/// Stricter than the RFC where two readers could differ: UTF-8 only, no byte order mark, no lone surrogate, blanks and tabs as
/// the only white space, numbers that a double can hold, bounded nesting, and no NUL, even as an escape, unless it is asked
/// for. Duplicate keys are found after unescaping and compared as bytes.
package struct JSONShape {
  package enum Kind: Sendable { case object, array, string, number, bool, null }

  package struct Value: Sendable {
    package let kind: Kind
    /// Where it stands in the text, quotes and braces included.
    package let range: Range<Int>
    /// Of an object, in the order of the text.
    package let members: [Member]

    package init(kind: Kind, range: Range<Int>, members: [Member] = []) {
      self.kind = kind
      self.range = range
      self.members = members
    }

    package func member(_ key: String) -> Value? {
      members.first { $0.key.elementsEqual(key.utf8) }?.value
    }
  }

  package struct Member: Sendable {
    /// Unescaped UTF-8.
    package let key: [UInt8]
    package let value: Value

    /// The key as text. Compared with ASCII names only.
    package var name: String { String(decoding: key, as: UTF8.self) }
  }

  /// Why a text is no JSON that is read here.
  package struct Malformed: Error { package let reason: String }

  package let top: Value
  /// The first key that stands twice in one object, unescaped.
  package let duplicateKey: [UInt8]?

  /// Throws `Malformed` at the first byte that cannot belong to one JSON text.
  package init(_ bytes: [UInt8], nesting: Int, takesNUL: Bool = false) throws(Malformed) {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { throw Malformed(reason: "it begins with a byte order mark") }
    if bytes.contains(0) { throw Malformed(reason: "it holds a NUL byte") }
    guard String(validating: bytes, as: UTF8.self) != nil else { throw Malformed(reason: "it is not UTF-8") }
    var scanner = JSONScanner(bytes: bytes, nesting: nesting, takesNUL: takesNUL)
    try scanner.skipBlanks()
    if scanner.isAtEnd { throw Malformed(reason: "it is empty") }
    top = try scanner.value(depth: 0)
    try scanner.skipBlanks()
    if !scanner.isAtEnd { throw Malformed(reason: "something follows the value at byte \(scanner.at)") }
    duplicateKey = scanner.duplicateKey
  }

  /// The unescaped bytes of a string value of the same text, or of a part of it that began at `start`.
  package static func unescaped(_ value: Value, in bytes: [UInt8], from start: Int = 0) -> [UInt8]? {
    guard value.kind == .string else { return nil }
    var scanner = JSONScanner(again: bytes, at: value.range.lowerBound - start)
    return try? scanner.string(collecting: true)
  }

  /// The values of an array of the same text, or of a part of it that began at `start`: a shape does not keep them, since
  /// a line may hold thousands. Their ranges count in `bytes`.
  static func elements(of value: Value, in bytes: [UInt8], from start: Int = 0) -> [Value] {
    guard value.kind == .array else { return [] }
    var scanner = JSONScanner(again: bytes, at: value.range.lowerBound - start)
    return (try? scanner.array(depth: 1, collecting: true)) ?? []
  }
}
