import AgentCore
import Glibc

@testable import AgentRuntime

/// Connections that are served when the test turns their queue, and never in between. Its responder answers at once.
final class HandTurnedListener {
  let clock = ManualClock()
  let queue: EventQueue
  let table: ConnectionTable
  private let responder: any LineResponder
  private var connections: [CallerConnection] = []

  init(_ responder: any LineResponder, limits: ListenerLimits = ListenerLimits()) throws {
    let clock = clock
    guard let queue = EventQueue(time: { clock.now }) else { throw UnixSocket.Errno(errno) }
    self.queue = queue
    self.responder = responder
    // Its thread has nothing to do here.
    table = ConnectionTable(queue: queue, loop: try ServingLoop.start(), limits: limits)
  }

  deinit { table.dropAll() }

  func connect(isNarrow: Bool = false) throws -> FarEnd {
    let (near, far) = try FarEnd.pair(isNarrow: isNarrow)
    let caller = Caller(uid: 1, connection: UInt64(connections.count + 1))
    let connection = CallerConnection(caller: caller, descriptor: near, responder: responder, table: table)
    connections.append(connection)
    connection.begin()
    return far
  }

  func connect(_ count: Int) throws -> [FarEnd] { try (0..<count).map { _ in try connect() } }

  /// Serves what is ready, and what is due `span` from now.
  func turn(after span: LoopSpan = .seconds(0)) {
    clock.advance(span)
    queue.turn(waits: false)
  }
}
