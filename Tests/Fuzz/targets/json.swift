// A sealed record: read or refused, never a crash. What was read is written so that it is read as the same again.

import JSONCoding

/// Any JSON text.
private enum Value: Codable, Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case text(String)
  case list([Value])
  case table([String: Value])

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let bool = try? value.decode(Bool.self) {
      self = .bool(bool)
    } else if let zero = try? value.decode(Double.self), zero == 0 {
      // With its sign, which an integer has not.
      self = .number(zero)
    } else if let integer = try? value.decode(Int64.self) {
      self = .integer(integer)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let text = try? value.decode(String.self) {
      self = .text(text)
    } else if let list = try? value.decode([Value].self) {
      self = .list(list)
    } else {
      self = .table(try value.decode([String: Value].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let bool): try container.encode(bool)
    case .integer(let integer): try container.encode(integer)
    case .number(let number): try container.encode(number)
    case .text(let text): try container.encode(text)
    case .list(let list): try container.encode(list)
    case .table(let table): try container.encode(table)
    }
  }
}

/// libFuzzer calls this for every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeRawBufferPointer(start: start, count: count))
  guard let shape = try? JSONShape(bytes, nesting: 32, takesNUL: true) else {
    precondition(ShapeDecoder.read(Value.self, bytes) == nil)
    return 0
  }
  guard let value = ShapeDecoder.read(Value.self, bytes) else { preconditionFailure("a shape that no value has") }
  guard let written = try? JSONWriter.bytes(of: value) else { preconditionFailure("what was read cannot be written") }
  let again = ShapeDecoder.read(Value.self, written)
  // A whole number that is written with a fraction comes back without.
  precondition(again.flatMap { try? JSONWriter.bytes(of: $0) } == written, "another value")
  precondition(shape.duplicateKey != nil || (try? JSONShape(written, nesting: 32, takesNUL: true))?.duplicateKey == nil)
  return 0
}
