import JSONCoding

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
      if JSONEscape.isPlain(UnsafeRawBufferPointer(utf8)) {
        bytes.append(contentsOf: utf8)
      } else {
        for byte in utf8 { JSONEscape.escaped(byte) { bytes.append($0) } }
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
}
