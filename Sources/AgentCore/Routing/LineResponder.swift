package import AgentWire

/// Who is at the other end of a connection. The pid is for the log only: it may be somebody else's by now.
package struct Caller: Sendable, Hashable {
  /// Which listener it came through: policies hang on it.
  package var listener: String
  package var uid: UInt32
  package var pid: Int32
  /// Unique in this agent's life.
  package var connection: UInt64

  package init(listener: String, uid: UInt32, pid: Int32, connection: UInt64) {
    self.listener = listener
    self.uid = uid
    self.pid = pid
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
