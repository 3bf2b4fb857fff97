package import AgentWire

/// Who is at the other end of a connection.
package struct Caller: Sendable, Hashable {
  package var uid: UInt32
  /// Unique in this agent's life.
  package var connection: UInt64

  package init(uid: UInt32, connection: UInt64) {
    self.uid = uid
    self.connection = connection
  }
}

/// Answers requests; the listener owns framing, ids in use and deadlines.
package protocol LineResponder: Sendable {
  /// What time it is. A loop asks once for all ready answers of a turn: reading the clocks costs as much as an answer.
  func now() -> Moment
  /// Answers with a token that is there and valid at `now`, without leaving the event loop: `send` is called once, with
  /// the greatest length of the answer line and what writes it and returns its length. False: ask `answer`. Never says no.
  func sendReadyAnswer(
    to request: TokenLine.Request, from caller: Caller, at now: Moment,
    _ send: (_ capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int) -> Void
  ) -> Bool
  /// Answers a `token.get` that may have to wait, keeping no task for it. `reply` is called once, on any thread.
  func answerToken(
    _ request: RequestLine, from caller: Caller, _ reply: @escaping @Sendable (TokenReply) -> Void)
  /// Answers every other request: the whole answer line, line feed included.
  func answer(to request: RequestLine, from caller: Caller) async -> [UInt8]
  /// What a connection gets after the answer to `events.subscribe`.
  var events: EventFeed { get }
}
