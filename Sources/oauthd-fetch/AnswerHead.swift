import FetchWire

/// Collects the header lines of the final answer. Interim answers (1xx) are dropped, trailers ignored (RFC 9110 §6.5),
/// every byte of them counted.
struct AnswerHead {
  private(set) var fields: [FetchField] = []
  private var bytes = 0
  /// Whether any line of an answer was seen.
  var hasBegun: Bool { bytes > 0 }
  /// Whether the empty line behind the fields of the last answer was seen.
  private(set) var complete = false

  /// Takes one line as libcurl hands it over; false when the head exceeds a limit.
  mutating func add(_ line: UnsafeRawBufferPointer) -> Bool {
    bytes += line.count
    guard bytes <= FetchLimits.answerHeaderBytes else { return false }
    if line.starts(with: "HTTP/".utf8) {
      fields = []
      complete = false
      return true
    }
    if complete { return true }
    let text = Self.trimmed(line[...])
    complete = text.isEmpty
    guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return true }
    let value = Self.trimmed(text[(colon + 1)...])
    // A bare CR or a NUL inside a value is dropped with its field: no reader may see two fields in it.
    guard !value.contains(where: { $0 == 0 || $0 == 0x0A || $0 == 0x0D }) else { return true }
    let field = FetchField(String(decoding: text[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self))
    guard field.hasValidName else { return true }
    fields.append(field)
    return fields.count <= FetchLimits.headerFields
  }

  private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
    var bytes = bytes
    while let last = bytes.last, [0x20, 0x09, 0x0D, 0x0A].contains(last) { bytes.removeLast() }
    while let first = bytes.first, [0x20, 0x09].contains(first) { bytes.removeFirst() }
    return bytes
  }
}
