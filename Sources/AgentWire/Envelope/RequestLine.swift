import JSONCoding

/// A line that is no request, and what to answer. `id` is nil where none could be read.
package struct RefusedLine: Error, Sendable {
  package var id: RequestID?
  package var failure: AgentFailure

  package init(id: RequestID?, failure: AgentFailure) {
    self.id = id
    self.failure = failure
  }
}

/// One request (JSON-RPC 2.0 §4): its envelope is checked, its parameters are not decoded yet.
package struct RequestLine: Sendable {
  package let id: RequestID
  package let method: Method
  private let parameterBytes: ParameterBytes
  /// Its ranges count from the line's start.
  private let parameterShape: JSONShape.Value

  /// Objects inside the parameters, and the keys they may have.
  private static let nestedKeys: [String: [String]] = ["rejected": ["fingerprint", "token"]]

  /// Reads a line without its line feed. Throws `bad_request` or `unsupported_method`.
  package init(_ line: [UInt8]) throws(RefusedLine) {
    guard line.count < WireLimits.requestBytes else {
      throw Self.refused(nil, "the request is longer than \(WireLimits.requestBytes) bytes")
    }
    let shape: JSONShape
    do {
      shape = try JSONShape(line, nesting: WireLimits.nesting)
    } catch {
      throw Self.refused(nil, "the line is no JSON that is read here: \(error.reason)")
    }
    if shape.top.kind == .array { throw Self.refused(nil, "batches are not supported", "send one request a line") }
    guard shape.top.kind == .object else { throw Self.refused(nil, "a request is a JSON object") }

    let known = try Self.identifier(shape, line)
    if let key = shape.duplicateKey {
      throw Self.refused(known, "the key \(Self.quoted(key)) stands twice in one object")
    }
    if let extra = shape.top.members.first(where: { !["jsonrpc", "id", "method", "params"].contains($0.name) }) {
      throw Self.refused(known, "a request has no member \(Self.quoted(extra.key))")
    }
    guard let id = known else {
      throw Self.refused(nil, "the request has no id: notifications are not supported", "send an id with every request")
    }
    guard let version = shape.top.member("jsonrpc"), JSONShape.unescaped(version, in: line) == Array("2.0".utf8) else {
      throw Self.refused(id, "\"jsonrpc\" must be \"2.0\"")
    }
    guard let name = shape.top.member("method").flatMap({ JSONShape.unescaped($0, in: line) }) else {
      throw Self.refused(id, "\"method\" must be a string")
    }
    guard let method = Method.allCases.first(where: { $0.rawValue.utf8.elementsEqual(name) }) else {
      throw RefusedLine(
        id: id,
        failure: AgentFailure(
          .unsupportedMethod, "there is no method \(Self.quoted(name))",
          hint: "the agent may be older than the caller: agent.hello tells its version"))
    }
    // None are as good as an empty object.
    let parameters = shape.top.member("params") ?? JSONShape.Value(kind: .object, range: 0..<0)
    guard parameters.kind == .object else { throw Self.refused(id, "\"params\" must be an object") }
    self.id = id
    self.method = method
    parameterBytes = ParameterBytes(line[parameters.range])
    parameterShape = parameters
  }

  /// Decodes the parameters, once: they are wiped then. Throws `unsupported_parameter` for a key that the method does not
  /// have, `bad_request` for a missing key or a value of the wrong type; each names the key.
  package func parameters<P: RequestParameters>(_ type: P.Type) throws(AgentFailure) -> P {
    guard P.method == method else {
      throw AgentFailure(.internal, "\(method.rawValue) was read with the parameters of \(P.method.rawValue)")
    }
    let known = P.Keys.allCases.map(\.stringValue)
    return try parameterBytes.read { bytes throws(AgentFailure) in
      try check(parameterShape.members, against: known, within: nil)
      for member in parameterShape.members {
        try checkNumber(member, in: bytes)
        guard let keys = Self.nestedKeys[member.name] else { continue }
        try check(member.value.members, against: keys, within: member.name)
      }
      let decoder = ShapeDecoder(parameterShape, in: bytes, from: parameterShape.range.lowerBound)
      return try WireJSON.decodeParameters(P.self, decoder)
    }
  }

  private func check(
    _ members: [JSONShape.Member], against known: [String], within outer: String?
  ) throws(AgentFailure) {
    guard let extra = members.first(where: { member in !known.contains { $0.utf8.elementsEqual(member.key) } }) else {
      return
    }
    let place = outer.map { "\"\($0)\" of " } ?? ""
    throw AgentFailure(
      .unsupportedParameter, "\(place)\(method.rawValue) has no parameter \(Self.quoted(extra.key))",
      hint: known.isEmpty ? "it takes none" : "it takes \(known.sorted().joined(separator: ", "))")
  }

  /// Every number of this protocol is an integer. The decoder refuses others too, but without naming the key.
  private func checkNumber(_ member: JSONShape.Member, in bytes: [UInt8]) throws(AgentFailure) {
    guard member.value.kind == .number else { return }
    let start = parameterShape.range.lowerBound
    let range = (member.value.range.lowerBound - start)..<(member.value.range.upperBound - start)
    guard Int(String(decoding: bytes[range], as: UTF8.self)) != nil else {
      throw AgentFailure(.badRequest, "the parameter \"\(member.name)\" of \(method.rawValue) must be an integer")
    }
  }

  private static func identifier(_ shape: JSONShape, _ line: [UInt8]) throws(RefusedLine) -> RequestID? {
    let given = shape.top.members.filter { $0.name == "id" }
    guard let value = given.first?.value else { return nil }
    guard given.count == 1 else { throw refused(nil, "the key \"id\" stands twice in one object") }
    switch WireJSON.identifier(value, in: line) {
    case .some(let id): return id
    case .none:
      throw refused(
        nil, "\"id\" must be an integer below 2^53 or a string of 1 to \(WireLimits.identifierBytes) bytes")
    }
  }

  private static func refused(_ id: RequestID?, _ message: String, _ hint: NextStep? = nil) -> RefusedLine {
    RefusedLine(id: id, failure: AgentFailure(.badRequest, message, hint: hint))
  }

  private static func quoted(_ key: [UInt8]) -> String {
    "\"\(PrintableText.escaped(String(decoding: key, as: UTF8.self), limit: 64))\""
  }
}
