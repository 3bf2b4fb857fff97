/// Decodes values from the shape that their text was read into: one reader of JSON, so that no second one understands the
/// text otherwise. Its errors are those of Foundation's decoder.
package struct ShapeDecoder: Decoder {
  private let value: JSONShape.Value
  private let bytes: [UInt8]
  /// Where `bytes` begin in the text that the ranges of `value` count in.
  private let start: Int
  package let codingPath: [any CodingKey]
  package var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// Deepest nesting of what ``read(_:_:)`` reads: the deepest record, a login by tokens of others that waits to be revoked,
  /// has eight.
  private static let nesting = 32

  /// What ``JSONWriter`` or Foundation's encoder has written of such a value. Nil: it is none, or no JSON.
  package static func read<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8]) -> Value? {
    guard let shape = try? JSONShape(bytes, nesting: nesting, takesNUL: true) else { return nil }
    return try? Value(from: ShapeDecoder(shape.top, in: bytes, from: 0))
  }

  package init(_ value: JSONShape.Value, in bytes: [UInt8], from start: Int, codingPath: [any CodingKey] = []) {
    self.value = value
    self.bytes = bytes
    self.start = start
    self.codingPath = codingPath
  }

  package func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard value.kind == .object else { throw mismatch([String: Any].self) }
    return KeyedDecodingContainer(Members(decoder: self))
  }

  package func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard value.kind == .array else { throw mismatch([Any].self) }
    return Elements(decoder: self)
  }

  package func singleValueContainer() -> any SingleValueDecodingContainer { self }

  private func inner(_ value: JSONShape.Value, _ key: any CodingKey) -> ShapeDecoder {
    ShapeDecoder(value, in: bytes, from: start, codingPath: codingPath + [key])
  }

  private var range: Range<Int> { value.range.lowerBound - start..<value.range.upperBound - start }

  private var context: DecodingError.Context { DecodingError.Context(codingPath: codingPath, debugDescription: "") }

  private func mismatch(_ type: any Any.Type) -> DecodingError {
    value.kind == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }
}

extension ShapeDecoder: SingleValueDecodingContainer {
  package func decodeNil() -> Bool { value.kind == .null }

  package func decode(_ type: Bool.Type) throws -> Bool {
    guard value.kind == .bool else { throw mismatch(type) }
    return bytes[range.lowerBound] == UInt8(ascii: "t")
  }

  package func decode(_ type: String.Type) throws -> String {
    guard let text = JSONShape.unescaped(value, in: bytes, from: start) else { throw mismatch(type) }
    return String(decoding: text, as: UTF8.self)
  }

  package func decode(_ type: Double.Type) throws -> Double { try number(type) }

  /// One that is written without a fraction and an exponent.
  package func decode<Number: FixedWidthInteger & Decodable>(_ type: Number.Type) throws -> Number {
    try number(type)
  }

  package func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    // These decode themselves by asking for themselves.
    if type is any Numeric.Type { throw mismatch(type) }
    return try Value(from: self)
  }

  private func number<Number: LosslessStringConvertible>(_ type: Number.Type) throws -> Number {
    guard value.kind == .number else { throw mismatch(type) }
    guard let number = Number(String(decoding: bytes[range], as: UTF8.self)) else {
      throw DecodingError.dataCorrupted(context)
    }
    return number
  }
}

extension ShapeDecoder {
  /// An object.
  private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: ShapeDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { decoder.value.members.compactMap { Key(stringValue: $0.name) } }

    func contains(_ key: Key) -> Bool { decoder.value.member(key.stringValue) != nil }

    private func value(_ key: Key) throws -> ShapeDecoder {
      guard let value = decoder.value.member(key.stringValue) else {
        throw DecodingError.keyNotFound(key, decoder.context)
      }
      return decoder.inner(value, key)
    }

    func decodeNil(forKey key: Key) throws -> Bool { try value(key).decodeNil() }

    /// Every type, as below.
    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
      guard let value = decoder.value.member(key.stringValue), value.kind != .null else { return nil }
      return try Value(from: decoder.inner(value, key))
    }

    /// Every type, those that others have a method of their own for too.
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try Value(from: value(key)) }

    func nestedContainer<Inner: CodingKey>(
      keyedBy type: Inner.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Inner> { try value(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
      try value(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { decoder }
    func superDecoder(forKey key: Key) throws -> any Decoder { try value(key) }
  }

  /// An array.
  private struct Elements: UnkeyedDecodingContainer {
    let decoder: ShapeDecoder
    private let values: [JSONShape.Value]
    private(set) var currentIndex = 0

    init(decoder: ShapeDecoder) {
      self.decoder = decoder
      values = JSONShape.elements(of: decoder.value, in: decoder.bytes, from: decoder.start)
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { values.count }
    var isAtEnd: Bool { currentIndex == values.count }

    private struct Place: CodingKey {
      let index: Int
      var intValue: Int? { index }
      var stringValue: String { "\(index)" }

      init(_ index: Int) { self.index = index }
      init?(stringValue: String) { nil }
      init?(intValue: Int) { self.init(intValue) }
    }

    /// The next one.
    private func value() throws -> ShapeDecoder {
      guard !isAtEnd else { throw DecodingError.valueNotFound(Any.self, decoder.context) }
      // Its range counts from where `bytes` begin.
      return ShapeDecoder(
        values[currentIndex], in: decoder.bytes, from: 0, codingPath: codingPath + [Place(currentIndex)])
    }

    private mutating func next<Value>(_ body: (ShapeDecoder) throws -> Value) throws -> Value {
      let value = try body(try value())
      currentIndex += 1
      return value
    }

    mutating func decodeNil() throws -> Bool {
      guard try value().decodeNil() else { return false }
      currentIndex += 1
      return true
    }

    /// As of ``Members``.
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next { try Value(from: $0) } }

    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
      try next { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
      try next { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try next { $0 } }
  }
}
