/// A JSON text (RFC 8259) that was read byte by byte before any decoder sees it.
///
/// Stricter than the RFC where two readers could differ: UTF-8 only, no byte order mark, no NUL even as an escape, no lone
/// surrogate, blanks and tabs as the only white space, numbers that a double can hold, bounded nesting. Duplicate keys are
/// found after unescaping and compared as bytes.
struct JSONShape {
  enum Kind: Sendable { case object, array, string, number, bool, null }

  struct Value: Sendable {
    let kind: Kind
    /// Where it stands in the text, quotes and braces included.
    let range: Range<Int>
    /// Of an object, in the order of the text.
    var members: [Member] = []

    func member(_ key: String) -> Value? {
      members.first { $0.key.elementsEqual(key.utf8) }?.value
    }
  }

  struct Member: Sendable {
    /// Unescaped UTF-8.
    let key: [UInt8]
    let value: Value
  }

  /// Why a text is no JSON that is read here.
  struct Malformed: Error { let reason: String }

  let top: Value
  /// The first key that stands twice in one object, unescaped.
  let duplicateKey: [UInt8]?

  /// Throws `Malformed` at the first byte that cannot belong to one JSON text.
  init(_ bytes: [UInt8], nesting: Int = WireLimits.nesting) throws(Malformed) {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { throw Malformed(reason: "it begins with a byte order mark") }
    if bytes.contains(0) { throw Malformed(reason: "it holds a NUL byte") }
    guard String(validating: bytes, as: UTF8.self) != nil else { throw Malformed(reason: "it is not UTF-8") }
    var scanner = JSONScanner(bytes: bytes, nesting: nesting)
    try scanner.skipBlanks()
    if scanner.isAtEnd { throw Malformed(reason: "it is empty") }
    top = try scanner.value(depth: 0)
    try scanner.skipBlanks()
    if !scanner.isAtEnd { throw Malformed(reason: "something follows the value at byte \(scanner.at)") }
    duplicateKey = scanner.duplicateKey
  }

  /// The unescaped bytes of a string value of the same text, or of a part of it that began at `start`.
  static func unescaped(_ value: Value, in bytes: [UInt8], from start: Int = 0) -> [UInt8]? {
    guard value.kind == .string else { return nil }
    var scanner = JSONScanner(bytes: bytes, nesting: 1)
    scanner.at = value.range.lowerBound - start
    return try? scanner.string(collecting: true)
  }

  /// The values of an array of the same text, or of a part of it that began at `start`: a shape does not keep them, since
  /// a line may hold thousands. Their ranges count in `bytes`.
  static func elements(of value: Value, in bytes: [UInt8], from start: Int = 0) -> [Value] {
    guard value.kind == .array else { return [] }
    var scanner = JSONScanner(bytes: bytes, nesting: WireLimits.nesting)
    scanner.at = value.range.lowerBound - start
    return (try? scanner.array(depth: 1, collecting: true)) ?? []
  }
}
