import AgentWire

/// What a listener refuses by itself, before any responder is asked.
enum Refusals {
  static func lineTooLong(_ limitBytes: Int) -> AgentFailure {
    AgentFailure(.badRequest, "the request line is longer than \(limitBytes) bytes", hint: "the connection ends here")
  }

  static func lineUnfinished(_ time: LoopSpan) -> AgentFailure {
    AgentFailure(
      .badRequest, "the request line was not finished within \(time.nanoseconds / 1_000_000_000) s",
      hint: "end every request with a line feed")
  }

  static let carriageReturn = AgentFailure(
    .badRequest, "the line ends in a carriage return", hint: "end every request with a line feed alone")

  static let idInUse = AgentFailure(
    .badRequest, "the request's id is in use by an earlier request of this connection",
    hint: "choose an id of its own for every request that is not answered yet")

  static let http = AgentFailure(
    .badRequest, "this is no HTTP server", hint: "the agent speaks JSON-RPC 2.0, one message a line")

  static let tooManyConnections = AgentFailure(
    .overloaded, "too many connections wait for answers", retryAfterMilliseconds: 1_000)

  static let noDescriptors = AgentFailure(
    .overloaded, "the agent has no file descriptor left for another connection", retryAfterMilliseconds: 1_000)

  /// `METHOD target HTTP/1.x`, as a browser lured to the socket would send.
  static func isHTTP(_ line: [UInt8]) -> Bool {
    var line = line[...]
    if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
    guard let first = line.first, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) else { return false }
    return line.dropLast().reversed().starts(with: " HTTP/1.".utf8.reversed())
  }
}
