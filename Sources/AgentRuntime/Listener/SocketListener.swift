package import AgentCore
import Glibc
package import Logging
import Synchronization

/// Serves one listening Unix socket: checks who connects, keeps the bounds of every connection, hands requests to the
/// responder.
///
/// One loop serves the socket and all its connections.
package final class SocketListener: Sendable {
  /// What has happened since the start.
  package struct Counts: Sendable, Equatable {
    package var accepted = 0
    /// Connections of other users, closed before a byte was read.
    package var refusedPeers = 0
    /// Times that no connection could be accepted for want of descriptors or memory.
    package var acceptFailures = 0
  }

  private let socket: ListeningSocket
  private let loop: ServingLoop
  private let acceptor: LoopBound<CallerAcceptor>
  private let state: State

  /// Shared with the handlers.
  final class State: Sendable {
    private let counts = Mutex(Counts())

    var snapshot: Counts { counts.withLock { $0 } }

    /// Changes the counts and returns them.
    @discardableResult func count(_ change: (inout Counts) -> Void) -> Counts {
      counts.withLock { counts in
        change(&counts)
        return counts
      }
    }
  }

  private init(
    socket: ListeningSocket, loop: ServingLoop, acceptor: LoopBound<CallerAcceptor>, state: State
  ) {
    self.socket = socket
    self.loop = loop
    self.acceptor = acceptor
    self.state = state
  }

  /// Begins to serve `socket`, which is closed when this throws or the listener closes.
  ///
  /// `uid` is the only user whose connections are read. `peer` tells who connected. `owed` counts the answers that are
  /// waited for. `crowdLeft` is called on the event loop when many connections were open and half of them are closed.
  /// Throws ``ListenerError``.
  package static func start(
    _ socket: ListeningSocket, uid: UInt32, responder: any LineResponder, on loop: ServingLoop,
    limits: ListenerLimits = ListenerLimits(), logger: Logger, owed: PendingAnswers = PendingAnswers(),
    crowdLeft: @escaping @Sendable () -> Void = {},
    peer: @escaping @Sendable (Int32) -> PeerIdentity? = PeerIdentity.of
  ) async throws(ListenerError) -> SocketListener {
    let state = State()
    let descriptor = socket.descriptor
    let opened: Result<LoopBound<CallerAcceptor>, UnixSocket.Errno> = await loop.run { queue in
      let table = ConnectionTable(queue: queue, loop: loop, limits: limits, owed: owed, crowdLeft: crowdLeft)
      let acceptor = CallerAcceptor(
        descriptor: descriptor, uid: uid, responder: responder, table: table, state: state,
        logger: logger, peer: peer)
      guard fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0,
        listen(descriptor, limits.backlog) == 0, acceptor.open()
      else {
        let code = errno
        queue.close(descriptor)
        return .failure(UnixSocket.Errno(code))
      }
      return .success(LoopBound(acceptor, queue))
    }
    switch opened {
    case .success(let acceptor):
      return SocketListener(socket: socket, loop: loop, acceptor: acceptor, state: state)
    case .failure(let error):
      socket.removeFile()
      throw .failed(call: "listen", path: socket.ownPath ?? "descriptor \(descriptor)", errno: error.code)
    }
  }

  package var counts: Counts { state.snapshot }

  /// Open connections at this moment.
  package func connectionCount() async -> Int { await loop.run { [acceptor] in acceptor.value(on: $0).table.count } }

  /// Stops accepting, lets answers that are owed go out for at most `grace`, then closes every connection.
  ///
  /// The file of a socket that we bound is removed first: a caller that comes now starts the next agent. Connections
  /// waiting in the backlog of an inherited socket are left for the next agent.
  package func close(grace: LoopSpan = .seconds(5)) async {
    socket.removeFile()
    await withCheckedContinuation { continuation in
      loop.execute { [acceptor] queue in
        let acceptor = acceptor.value(on: queue)
        acceptor.close()
        let timer = queue.schedule(at: queue.now + grace) { acceptor.table.dropAll() }
        acceptor.table.quiesce {
          queue.cancel(timer)
          continuation.resume()
        }
      }
    }
  }
}
