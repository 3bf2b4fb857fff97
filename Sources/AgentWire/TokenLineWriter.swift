/// Writes JSON members as the coders of this protocol spell them.
struct TokenLineWriter {
  private(set) var bytes: [UInt8] = []
  private var hasMembers: Bool

  /// `insideObject`: members stand before the first one that is written.
  init(insideObject: Bool = false) { hasMembers = insideObject }

  mutating func raw(_ literal: StaticString) {
    literal.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  mutating func identifier(_ id: RequestID) {
    switch id {
    case .number(let number): bytes.append(contentsOf: String(number).utf8)
    case .string(let text): quoted(text)
    }
  }

  mutating func member(_ name: StaticString, _ value: String?) {
    guard let value else { return }
    begin(name)
    quoted(value)
  }

  mutating func member(_ name: StaticString, _ value: Int?) {
    guard let value else { return }
    begin(name)
    bytes.append(contentsOf: String(value).utf8)
  }

  mutating func member(_ name: StaticString, _ values: [String]) {
    begin(name)
    bytes.append(UInt8(ascii: "["))
    for (index, value) in values.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      quoted(value)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  mutating func member(_ name: StaticString, _ value: Bool) {
    begin(name)
    raw(value ? "true" : "false")
  }

  mutating func object(_ name: StaticString, _ writeMembers: (inout TokenLineWriter) -> Void) {
    begin(name)
    raw("{")
    hasMembers = false
    writeMembers(&self)
    raw("}")
    hasMembers = true
  }

  mutating func quoted(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { utf8 in
      if Self.isPlain(UnsafeRawBufferPointer(utf8)) {
        bytes.append(contentsOf: utf8)
      } else {
        for byte in utf8 { Self.escaped(byte) { bytes.append($0) } }
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func begin(_ name: StaticString) {
    if hasMembers { bytes.append(UInt8(ascii: ",")) }
    hasMembers = true
    bytes.append(UInt8(ascii: "\""))
    raw(name)
    raw("\":")
  }

  /// Whether nothing in `text` needs an escape. Without a branch for each byte: a token may be long.
  static func isPlain(_ text: UnsafeRawBufferPointer) -> Bool {
    var odd: UInt8 = 0
    for byte in text {
      odd |= (byte < 0x20 ? 1 : 0) | (byte == UInt8(ascii: "\"") ? 1 : 0) | (byte == UInt8(ascii: "\\") ? 1 : 0)
    }
    return odd == 0
  }

  /// The bytes that stand for `byte` inside a JSON string (RFC 8259 §7).
  @inline(__always)
  static func escaped(_ byte: UInt8, _ emit: (UInt8) -> Void) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
      emit(UInt8(ascii: "\\"))
      emit(byte)
    case 0..<0x20: control(byte, emit)
    default: emit(byte)
    }
  }

  private static func control(_ byte: UInt8, _ emit: (UInt8) -> Void) {
    emit(UInt8(ascii: "\\"))
    switch byte {
    case 0x08: emit(UInt8(ascii: "b"))
    case 0x09: emit(UInt8(ascii: "t"))
    case 0x0A: emit(UInt8(ascii: "n"))
    case 0x0C: emit(UInt8(ascii: "f"))
    case 0x0D: emit(UInt8(ascii: "r"))
    default:
      let low = byte & 0xF
      for digit in [UInt8(ascii: "u"), UInt8(ascii: "0"), UInt8(ascii: "0"), UInt8(ascii: "0") + byte >> 4] {
        emit(digit)
      }
      emit(low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10)
    }
  }
}
