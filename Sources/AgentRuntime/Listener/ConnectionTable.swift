import AgentCore
import NIOCore

/// All connections of one listener, and the one timer that ends those whose deadline passed. Used on its event loop only.
///
/// One timer for all: most connections live for one request, and a timer each would cost more than the request.
final class ConnectionTable {
  let eventLoop: any EventLoop
  let limits: ListenerLimits
  private var connections: [UInt64: ConnectionHandler] = [:]
  private var timer: (deadline: NIODeadline, task: Scheduled<Void>)?
  private var emptied: EventLoopPromise<Void>?
  private(set) var isQuiescing = false
  private var answeredThisRound: [ConnectionHandler] = []
  let roundAnswers = RoundAnswers()
  private var isRoundEnding = false
  /// What that many connections took is worth giving back when half of them have left.
  private static let crowd = 32
  private var mostAtOnce = 0
  private let crowdLeft: () -> Void

  /// `crowdLeft` is called when many connections were open and half of them are not any more.
  init(eventLoop: any EventLoop, limits: ListenerLimits, crowdLeft: @escaping () -> Void = {}) {
    self.eventLoop = eventLoop
    self.limits = limits
    self.crowdLeft = crowdLeft
  }

  var count: Int { connections.count }

  /// Makes room by dropping the connection that has been idle longest, or else the one that has been at its unfinished
  /// line longest. False when each of them waits for an answer: the newcomer is turned away.
  func admit(_ connection: ConnectionHandler) -> Bool {
    guard connections.count < limits.connections || makeRoom() else { return false }
    connections[connection.caller.connection] = connection
    mostAtOnce = max(mostAtOnce, connections.count)
    return true
  }

  /// Drops one connection that is owed nothing, neither an answer nor events; false when there is none.
  func makeRoom() -> Bool {
    let candidates = connections.values.filter { !$0.isOwedAnAnswer && !$0.isSubscribed }
    let oldest = candidates.min { left, right in
      (left.hasUnfinishedLine ? 1 : 0, left.lastActivity) < (right.hasUnfinishedLine ? 1 : 0, right.lastActivity)
    }
    guard let oldest else { return false }
    connections[oldest.caller.connection] = nil
    oldest.drop()
    return true
  }

  func remove(_ connection: ConnectionHandler) {
    let number = connection.caller.connection
    guard connections[number] === connection else { return }
    connections[number] = nil
    if connections.isEmpty { emptied?.succeed() }
    if mostAtOnce >= Self.crowd, connections.count <= mostAtOnce / 2 {
      mostAtOnce = connections.count
      crowdLeft()
    }
  }

  /// Sends the connection's answers when the event loop has read what everybody asks in this round. One by one each
  /// answer would wake its caller, and on a busy socket that costs as much as the answer.
  func flushSoon(_ connection: ConnectionHandler) {
    answeredThisRound.append(connection)
    endRoundSoon()
  }

  /// Keeps a ready answer until then. False: the connection keeps it.
  func keepReadyAnswer(
    for connection: ConnectionHandler, _ capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int
  ) -> Bool {
    guard roundAnswers.add(for: connection, capacity, write) else { return false }
    endRoundSoon()
    return true
  }

  func sendReadyAnswers() { roundAnswers.send(now: eventLoop.now) }

  private func endRoundSoon() {
    guard !isRoundEnding else { return }
    isRoundEnding = true
    eventLoop.assumeIsolated().execute {
      self.isRoundEnding = false
      self.sendReadyAnswers()
      let answered = self.answeredThisRound
      self.answeredThisRound.removeAll(keepingCapacity: true)
      for connection in answered { connection.endRound() }
    }
  }

  /// Makes sure that somebody looks at the connections at `deadline`, or before.
  func wake(at deadline: NIODeadline) {
    if let timer, timer.deadline <= deadline { return }
    timer?.task.cancel()
    let task = eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.expire() }
    timer = (deadline, task)
  }

  private func expire() {
    timer = nil
    let now = eventLoop.now
    for connection in Array(connections.values) { connection.expire(now: now) }
    if let next = connections.values.compactMap(\.nextDeadline).min() { wake(at: next) }
  }

  /// Takes no further request, lets the answers that are owed go out, and closes what owes none. The future completes
  /// when no connection is left.
  func quiesce() -> EventLoopFuture<Void> {
    isQuiescing = true
    let promise = emptied ?? eventLoop.makePromise(of: Void.self)
    emptied = promise
    for connection in Array(connections.values) { connection.finish() }
    if connections.isEmpty { promise.succeed() }
    return promise.futureResult
  }

  /// Closes every connection at once.
  func dropAll() {
    for connection in Array(connections.values) { connection.drop() }
  }
}
