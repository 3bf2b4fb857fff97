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
  /// Connections the kernel holds for us between two turns of the loop, if its own limit (somaxconn) is no lower.
  package var backlog: Int32 = 4_096

  // Of all connections together.

  /// Bytes that a connection may hold in any case, of unfinished lines and of untaken answers each; and at most read at
  /// once.
  package var ownBytes = WireLimits.ownBytes
  /// Bytes that all connections hold beyond that.
  package var sharedBytes = WireLimits.sharedBytes
  /// How long somebody may hold more than its own while that is used up.
  package var holdTime = LoopSpan.seconds(1)
  /// Requests for a token that wait.
  var tokenRequests = RequestShares.Bound(each: 4, all: WireLimits.tokenRequests)
  /// Lists that are made at the same time.
  var listings = RequestShares.Bound(each: 0, all: WireLimits.listings)
  /// Other requests under way.
  var otherRequests = RequestShares.Bound(each: 1, all: WireLimits.otherRequests)

  package init() {}
}
