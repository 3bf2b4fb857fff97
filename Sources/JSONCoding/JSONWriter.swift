/// Writes a value as one JSON text: keys sorted, nothing escaped without need, so that one value has one spelling.
package enum JSONWriter {
  /// Throws what the value throws, and `EncodingError` for a number that JSON does not have.
  package static func bytes(of value: some Encodable) throws -> [UInt8] {
    let node = JSONNode()
    try value.encode(to: NodeEncoder(node: node))
    var bytes: [UInt8] = []
    node.write(to: &bytes)
    return bytes
  }
}

/// Fills one node. No coding path is kept: what is written are types of ours, and only what a number is can be wrong.
private struct NodeEncoder: Encoder, SingleValueEncodingContainer {
  let node: JSONNode

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(Members(object: node))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { Elements(array: node) }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func encodeNil() { node.content = .literal("null") }
  func encode(_ value: Bool) { node.content = .literal(value ? "true" : "false") }
  func encode(_ value: String) { node.content = .string(value) }
  func encode<Number: BinaryInteger & Encodable>(_ value: Number) { node.content = .literal(value.description) }

  func encode(_ value: Double) throws {
    guard value.isFinite else {
      throw EncodingError.invalidValue(value, .init(codingPath: [], debugDescription: "JSON has no such number"))
    }
    let text = value.description
    node.content = .literal(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
  }

  func encode(_ value: Float) throws { try encode(Double(value)) }
  func encode<Value: Encodable>(_ value: Value) throws { try value.encode(to: self) }
}

extension NodeEncoder {
  private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
    private let object: JSONNode

    init(object: JSONNode) {
      self.object = object
      object.becomeObject()
    }

    var codingPath: [any CodingKey] { [] }

    private func member(_ key: any CodingKey) -> NodeEncoder { NodeEncoder(node: object.member(key.stringValue)) }

    func encodeNil(forKey key: Key) { member(key).encodeNil() }

    /// Every type, those that others have a method of their own for too.
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try value.encode(to: member(key)) }

    func nestedContainer<Inner: CodingKey>(
      keyedBy type: Inner.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Inner> { member(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { member(key).unkeyedContainer() }

    func superEncoder() -> any Encoder { NodeEncoder(node: object.member("super")) }
    func superEncoder(forKey key: Key) -> any Encoder { member(key) }
  }

  private struct Elements: UnkeyedEncodingContainer {
    private let array: JSONNode

    init(array: JSONNode) {
      self.array = array
      array.becomeArray()
    }

    var codingPath: [any CodingKey] { [] }
    var count: Int { array.count }

    private func element() -> NodeEncoder { NodeEncoder(node: array.element()) }

    func encodeNil() { element().encodeNil() }

    /// As of ``Members``.
    func encode<Value: Encodable>(_ value: Value) throws { try value.encode(to: element()) }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
      element().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { element().unkeyedContainer() }

    func superEncoder() -> any Encoder { element() }
  }
}
