import FetchWire

/// The connections that were admitted, in their order. Used on its event loop only.
final class ConnectionTable {
  let limits: RedirectLimits
  let tell: (RedirectReport) -> Void
  private var connections: [BrowserConnection] = []
  /// Called when the last connection has ended.
  private var ended: (() -> Void)?

  init(limits: RedirectLimits, tell: @escaping (RedirectReport) -> Void) {
    self.limits = limits
    self.tell = tell
  }

  /// At the bound the one that has been without a request longest makes room, so that connections that only stand by
  /// keep no browser out.
  func add(_ connection: BrowserConnection) {
    if connections.count >= limits.connections {
      guard let oldest = connections.first(where: { !$0.isOwedAnAnswer }) else { return connection.drop() }
      connections.removeAll { $0 === oldest }
      oldest.drop()
    }
    connections.append(connection)
  }

  func remove(_ connection: BrowserConnection) {
    connections.removeAll { $0 === connection }
    tell(.gone(connection.number))
    if connections.isEmpty { ended?() }
  }

  func answer(_ number: UInt32, _ reply: RedirectReply) {
    connections.first { $0.number == number }?.answer(reply)
  }

  /// Drops what has no answer and lets the others arrive: those that were answered end by themselves within the linger
  /// time. Calls `ended` when none is left.
  func finish(_ ended: @escaping () -> Void) {
    self.ended = ended
    for connection in connections where !connection.isAnswered { connection.drop() }
    if connections.isEmpty { ended() }
  }
}
