/// Writes a payload whose size is known before, so that the array never grows and leaves no copy behind.
struct PayloadWriter {
  private(set) var bytes: [UInt8] = []

  init(capacity: Int) { bytes.reserveCapacity(capacity) }

  mutating func raw(_ frame: [UInt8]) { bytes.append(contentsOf: frame) }

  mutating func integer(_ value: Int, bytes count: Int) {
    for place in (0..<count).reversed() { bytes.append(UInt8(truncatingIfNeeded: value >> (place * 8))) }
  }

  /// A text of at most 65,535 bytes behind its length; longer ones are refused before (``FetchRequest/validate()``).
  mutating func text(_ text: String) {
    integer(text.utf8.count, bytes: 2)
    bytes.append(contentsOf: text.utf8)
  }

  mutating func fields(_ fields: [FetchField]) {
    integer(fields.count, bytes: 2)
    for field in fields {
      text(field.name)
      text(field.value)
    }
  }

  static func size(of fields: [FetchField]) -> Int {
    fields.reduce(2) { $0 + 4 + $1.name.utf8.count + $1.value.utf8.count }
  }
}

/// Reads a payload front to back. Asks for bytes beyond the end throw; nothing traps, whatever the bytes.
struct PayloadReader {
  private let bytes: UnsafeRawBufferPointer
  private var offset = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  mutating func integer(bytes count: Int, _ name: String) throws(FetchWireError) -> Int {
    guard bytes.count - offset >= count else { throw .invalid(name) }
    var value = 0
    for index in 0..<count { value = value << 8 | Int(bytes[offset + index]) }
    offset += count
    return value
  }

  mutating func text(_ name: String) throws(FetchWireError) -> String {
    let length = try integer(bytes: 2, name)
    guard bytes.count - offset >= length else { throw .invalid(name) }
    defer { offset += length }
    return String(decoding: UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + length)]), as: UTF8.self)
  }

  /// Bytes behind their number, at most `limit`.
  mutating func bytes(_ name: String, limit: Int) throws(FetchWireError) -> [UInt8] {
    let length = try integer(bytes: 4, name)
    guard length <= limit, bytes.count - offset >= length else { throw .invalid(name) }
    defer { offset += length }
    return Array(bytes[offset..<(offset + length)])
  }

  /// Whether everything has been read.
  var isAtEnd: Bool { offset == bytes.count }

  mutating func fields() throws(FetchWireError) -> [FetchField] {
    let count = try integer(bytes: 2, "header fields")
    guard count <= FetchLimits.headerFields else { throw .invalid("header fields") }
    var fields: [FetchField] = []
    for _ in 0..<count {
      let name = try text("header name")
      fields.append(FetchField(name, try text("header value")))
    }
    return fields
  }

  func end() throws(FetchWireError) {
    guard isAtEnd else { throw .invalid("bytes after the last value") }
  }
}
