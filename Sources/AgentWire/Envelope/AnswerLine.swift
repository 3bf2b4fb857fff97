import JSONCoding

/// A line that is no answer of this protocol.
package struct MalformedAnswer: Error, Sendable, Equatable {
  package var reason: String

  package init(reason: String) { self.reason = reason }
}

/// Answers (JSON-RPC 2.0 §5), printed and read.
package enum AnswerLine {
  /// The whole line, line feed included. A result that cannot be encoded, or not within `WireLimits.answerBytes`, becomes
  /// the failure `internal`.
  package static func success<R: Encodable>(_ id: RequestID, _ result: R) -> [UInt8] {
    guard let json = WireJSON.encode(result) else {
      return failure(id, AgentFailure(.internal, "the answer cannot be encoded"))
    }
    let line = line(id, "result", json)
    guard line.count <= WireLimits.answerBytes else {
      return failure(
        id,
        AgentFailure(
          .internal, "the answer is longer than \(WireLimits.answerBytes) bytes", hint: "ask for a shorter page"))
    }
    return line
  }

  /// The whole line, line feed included. Without an id it is `null`.
  package static func failure(_ id: RequestID?, _ failure: AgentFailure) -> [UInt8] {
    line(id, "error", failure.json)
  }

  /// Reads a line without its line feed. Unknown members are ignored.
  package static func parse<R: Decodable>(
    _ line: [UInt8], as type: R.Type
  ) throws(MalformedAnswer) -> (id: RequestID?, result: Result<R, AgentFailure>) {
    guard line.count < WireLimits.answerBytes else {
      throw MalformedAnswer(reason: "the answer is longer than \(WireLimits.answerBytes) bytes")
    }
    let shape: JSONShape
    do {
      shape = try JSONShape(line, nesting: WireLimits.nesting)
    } catch {
      throw MalformedAnswer(reason: "the answer is no JSON that is read here: \(error.reason)")
    }
    guard shape.top.kind == .object, shape.duplicateKey == nil else {
      throw MalformedAnswer(reason: "the answer is no object with different keys")
    }
    guard let version = shape.top.member("jsonrpc"), JSONShape.unescaped(version, in: line) == Array("2.0".utf8) else {
      throw MalformedAnswer(reason: "the answer is not JSON-RPC 2.0")
    }
    let id = try identifier(shape, line)
    switch (shape.top.member("result"), shape.top.member("error")) {
    case (let result?, nil):
      guard let value = WireJSON.decode(type, result, in: line) else {
        throw MalformedAnswer(reason: "the answer has another result than the request asked for")
      }
      return (id, .success(value))
    case (nil, let error?):
      guard let failure = WireJSON.decode(AgentFailure.self, error, in: line) else {
        throw MalformedAnswer(reason: "the answer holds an error of another form")
      }
      return (id, .failure(failure))
    default:
      throw MalformedAnswer(reason: "the answer needs either a result or an error")
    }
  }

  private static func identifier(_ shape: JSONShape, _ line: [UInt8]) throws(MalformedAnswer) -> RequestID? {
    guard let value = shape.top.member("id") else { throw MalformedAnswer(reason: "the answer has no id") }
    if value.kind == .null { return nil }
    guard let id = WireJSON.identifier(value, in: line) else {
      throw MalformedAnswer(reason: "the answer has an id that no request can have")
    }
    return id
  }

  private static func line(_ id: RequestID?, _ member: String, _ json: [UInt8]) -> [UInt8] {
    var line = Array(#"{"jsonrpc":"2.0","id":"#.utf8)
    line.reserveCapacity(json.count + 160)
    line += WireJSON.print(id)
    line += Array(",\"\(member)\":".utf8)
    line += json
    line += Array("}\n".utf8)
    return line
  }
}

/// Requests (JSON-RPC 2.0 §4), printed.
package enum RequestEncoder {
  /// The whole line, line feed included. For `token.get` with nothing but `account`, `url` and `min_validity_s` it is the
  /// canonical one of `TokenLine`.
  package static func line<P: RequestParameters>(id: RequestID, _ parameters: P) -> [UInt8] {
    var line = Array(#"{"jsonrpc":"2.0","id":"#.utf8)
    line += WireJSON.print(id)
    line += Array(",\"method\":\"\(P.method.rawValue)\",\"params\":".utf8)
    // `null` is refused by the agent: better than a request that means something else.
    line += WireJSON.encode(parameters) ?? Array("null".utf8)
    line += Array("}\n".utf8)
    return line
  }
}
