import JSONCoding

/// How messages of the socket become JSON and are read back. One message has one spelling (``JSONWriter``); what is read was
/// read into a ``JSONShape`` before, and by no second reader.
enum WireJSON {
  static func encode(_ value: some Encodable) -> [UInt8]? { try? JSONWriter.bytes(of: value) }

  /// A value of the text that `shape` was read from.
  static func decode<Value: Decodable>(_ type: Value.Type, _ shape: JSONShape.Value, in bytes: [UInt8]) -> Value? {
    try? Value(from: ShapeDecoder(shape, in: bytes, from: 0))
  }

  /// Names the key that is missing or wrong, and never repeats a value: it may be a secret.
  static func decodeParameters<P: RequestParameters>(_ type: P.Type, _ decoder: ShapeDecoder) throws(AgentFailure) -> P
  {
    do {
      return try P(from: decoder)
    } catch let error as DecodingError {
      throw AgentFailure(.badRequest, describe(error, method: P.method))
    } catch {
      throw AgentFailure(.badRequest, "the parameters of \(P.method.rawValue) cannot be read")
    }
  }

  /// An `id` as this protocol takes it, else nil.
  static func identifier(_ value: JSONShape.Value, in bytes: [UInt8]) -> RequestID? {
    switch value.kind {
    case .number:
      let text = String(decoding: bytes[value.range], as: UTF8.self)
      guard let number = Int64(text), text == String(number), number.magnitude <= RequestID.greatestNumber.magnitude
      else { return nil }
      return .number(number)
    case .string:
      guard let text = JSONShape.unescaped(value, in: bytes), (1...WireLimits.identifierBytes).contains(text.count)
      else { return nil }
      return .string(String(decoding: text, as: UTF8.self))
    default:
      return nil
    }
  }

  /// An id as JSON text; none is `null` (JSON-RPC 2.0 §5).
  static func print(_ id: RequestID?) -> [UInt8] {
    switch id {
    case nil: Array("null".utf8)
    case .number(let number): Array(String(number).utf8)
    case .string(let text): TokenLine.quoted(text)
    }
  }

  private static func describe(_ error: DecodingError, method: Method) -> String {
    switch error {
    case .keyNotFound(let key, let context):
      "the parameter \(path(context.codingPath + [key])) of \(method.rawValue) is missing"
    case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
      "the parameter \(path(context.codingPath)) of \(method.rawValue) must be \(name(type))"
    case .dataCorrupted(let context):
      "the parameter \(path(context.codingPath)) of \(method.rawValue) has a value that is not allowed"
    @unknown default:
      "the parameters of \(method.rawValue) cannot be read"
    }
  }

  private static func path(_ keys: [any CodingKey]) -> String {
    let text = keys.reduce("") { text, key in
      if let index = key.intValue { return "\(text)[\(index)]" }
      return text.isEmpty ? key.stringValue : "\(text).\(key.stringValue)"
    }
    return "\"\(text)\""
  }

  private static func name(_ type: any Any.Type) -> String {
    switch type {
    case is String.Type: "a string"
    case is Bool.Type: "true or false"
    case is any BinaryInteger.Type: "an integer"
    case is [String: Any].Type: "an object"
    case is [Any].Type: "a list"
    default: "of another type"
    }
  }
}
