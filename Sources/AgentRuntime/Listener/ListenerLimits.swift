import AgentWire
package import NIOCore

/// The bounds of one listener (docs/protocol.md, "Limits").
package struct ListenerLimits: Sendable {
  /// Longest request line, the line feed included.
  package var lineBytes = WireLimits.requestBytes
  /// Time to finish a line that was begun.
  package var lineTime = TimeAmount.seconds(Int64(WireLimits.lineSeconds))
  /// Time to take an answer.
  package var answerTime = TimeAmount.seconds(Int64(WireLimits.lineSeconds))
  /// Time without a request, and without an answer owed, after which a connection is dropped.
  package var idleTime = TimeAmount.seconds(Int64(WireLimits.idleSeconds))
  /// Requests of one connection that are not answered yet, or whose answer is not taken yet.
  package var requestsInFlight = WireLimits.requestsInFlight
  package var connections = WireLimits.connections
  /// Connections the kernel holds for us between two rounds of the event loop.
  package var backlog: Int32 = 1_024

  package init() {}
}
