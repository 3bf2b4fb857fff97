/// A decoder that makes a value out of nothing and remembers which members it was asked for.
final class MemberRecorder {
  private(set) var members: [String] = []
  /// Those without which there is no value.
  private(set) var required: Set<String> = []
  /// Texts that some of the types take: an enumeration takes no other.
  private let texts: [String]

  init<Value: Decodable>(_ type: Value.Type, texts: [String]) throws {
    self.texts = texts
    _ = try Value(from: Nothing(recorder: self, texts: texts))
  }

  private func note(_ key: any CodingKey, isRequired: Bool) {
    if !members.contains(key.stringValue) { members.append(key.stringValue) }
    if isRequired { required.insert(key.stringValue) }
  }

  private struct NoText: Error {}

  /// Any value of a type.
  private struct Nothing: Decoder, SingleValueDecodingContainer {
    /// Nil inside of a member: its own members are not asked about.
    let recorder: MemberRecorder?
    let texts: [String]
    var text = ""
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func any<Value: Decodable>(_ type: Value.Type) throws -> Value {
      for text in [""] + texts {
        if let value = try? Value(from: Nothing(recorder: nil, texts: texts, text: text)) { return value }
      }
      throw NoText()
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
      KeyedDecodingContainer(Members(decoder: self))
    }
    func unkeyedContainer() -> any UnkeyedDecodingContainer { Elements() }
    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { false }
    func decode(_ type: Bool.Type) -> Bool { false }
    func decode(_ type: Int.Type) -> Int { 1 }
    func decode(_ type: String.Type) -> String { text }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try any(type) }
  }

  private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: Nothing
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    /// Asked of optional ones only.
    func contains(_ key: Key) -> Bool {
      decoder.recorder?.note(key, isRequired: false)
      return false
    }
    func decodeNil(forKey key: Key) -> Bool { true }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
      decoder.recorder?.note(key, isRequired: true)
      return try decoder.any(type)
    }
    func nestedContainer<Inner: CodingKey>(
      keyedBy type: Inner.Type, forKey key: Key
    ) -> KeyedDecodingContainer<Inner> { decoder.container(keyedBy: type) }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer { Elements() }
    func superDecoder() -> any Decoder { decoder }
    func superDecoder(forKey key: Key) -> any Decoder { decoder }
  }

  /// An empty list.
  private struct Elements: UnkeyedDecodingContainer {
    var codingPath: [any CodingKey] { [] }
    var count: Int? { 0 }
    var isAtEnd: Bool { true }
    var currentIndex: Int { 0 }

    func decodeNil() throws -> Bool { throw NoText() }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { throw NoText() }
    func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type) throws -> KeyedDecodingContainer<Inner> {
      throw NoText()
    }
    func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw NoText() }
    func superDecoder() throws -> any Decoder { throw NoText() }
  }
}
