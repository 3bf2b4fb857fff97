import AgentWire

/// The bounds of one listener (docs/protocol.md, "Limits").
package struct ListenerLimits: Sendable {
  /// Longest request line, the line feed included.
  package var lineBytes = WireLimits.requestBytes
  /// Time to finish a line that was begun.
  package var lineTime = LoopSpan.seconds(Int64(WireLimits.lineSeconds))
  /// Time to take an answer.
  package var answerTime = LoopSpan.seconds(Int64(WireLimits.lineSeconds))
  /// Time without a request, and without an answer owed, after which a connection is dropped.
  package var idleTime = LoopSpan.seconds(Int64(WireLimits.idleSeconds))
  /// Requests of one connection that are not answered yet, or whose answer is not taken yet.
  package var requestsInFlight = WireLimits.requestsInFlight
  /// Bytes of answers that wait for one caller to take them, beyond which nothing more of it is read.
  package var untakenBytes = 65_536
  package var connections = WireLimits.connections
  /// Connections the kernel holds for us between two turns of the loop.
  package var backlog: Int32 = 1_024

  package init() {}
}
