import AgentWire

/// The answer to a request for a token that had to be waited for.
package enum TokenReply: Sendable {
  /// A token that many may be waiting for, and the request's id: its line is written where and when it is sent.
  case token(ReadyAnswer, Int64)
  /// The whole line, line feed included.
  case line([UInt8])
}

/// A request for a token that was read, and where its answer goes.
package struct TokenQuestion: Sendable {
  let id: RequestID
  let parameters: TokenGet
  /// Called once, on any thread.
  let reply: @Sendable (TokenReply) -> Void
}
