package import AgentCore
import AgentWire
import Glibc
package import Logging
package import NIOCore
import NIOPosix
import Synchronization

/// Serves one listening Unix socket: checks who connects, keeps the bounds of every connection, hands requests to the
/// responder.
///
/// One event loop serves the socket and all its connections.
package final class SocketListener: Sendable {
  /// What has happened since the start.
  package struct Counts: Sendable, Equatable {
    package var accepted = 0
    /// Connections of other users, closed before a byte was read.
    package var refusedPeers = 0
    /// Times that no connection could be accepted for want of descriptors or memory.
    package var acceptFailures = 0
  }

  /// The name that policies and ``AgentCore/Caller/listener`` use.
  package let name: String
  private let socket: ListeningSocket
  private let channel: any Channel
  private let table: NIOLoopBound<ConnectionTable>
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
    name: String, socket: ListeningSocket, channel: any Channel, table: NIOLoopBound<ConnectionTable>, state: State
  ) {
    self.name = name
    self.socket = socket
    self.channel = channel
    self.table = table
    self.state = state
  }

  /// Begins to serve `socket`, which is closed when this throws or the listener closes.
  ///
  /// `uid` is the only user whose connections are read. `peer` tells who connected. `crowdLeft` is called on the event
  /// loop when many connections were open and half of them are closed. Throws ``ListenerError``.
  package static func start(
    _ socket: ListeningSocket, name: String, uid: UInt32, responder: any LineResponder, on eventLoop: any EventLoop,
    limits: ListenerLimits = ListenerLimits(), logger: Logger, crowdLeft: @escaping @Sendable () -> Void = {},
    peer: @escaping @Sendable (NIOBSDSocket.Handle) -> PeerIdentity? = PeerIdentity.of
  ) async throws(ListenerError) -> SocketListener {
    let state = State()
    let path = socket.ownPath ?? "descriptor \(socket.descriptor)"
    do {
      let table = try await eventLoop.submit {
        NIOLoopBound(
          ConnectionTable(eventLoop: eventLoop, limits: limits, crowdLeft: crowdLeft), eventLoop: eventLoop)
      }.get()
      let gate = ConnectionGate(
        listener: name, uid: uid, responder: responder, table: table, state: state, logger: logger, peer: peer)
      let channel = try await ServerBootstrap(group: eventLoop)
        // The first of a round; the backlog drain takes the others.
        .serverChannelOption(.maxMessagesPerRead, value: 1)
        .serverChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(BacklogDrain { gate.admit($0, $1) })
            let refusal = AnswerLine.failure(nil, Refusals.noDescriptors)
            try channel.pipeline.syncOperations.addHandler(
              AcceptRescue(
                refusal: refusal, uid: uid, makeRoom: { table.value.makeRoom() },
                onFailure: { code in gate.acceptFailed(code) }))
          }
        }
        .childChannelInitializer { gate.admit($0) }
        .withBoundSocket(socket.descriptor)
        .flatMap { channel in
          // NIO listens once more with a backlog of its own.
          channel.eventLoop.makeCompletedFuture {
            guard listen(socket.descriptor, limits.backlog) == 0 else { throw UnixSocket.Errno(errno) }
            return channel
          }
        }
        .get()
      return SocketListener(name: name, socket: socket, channel: channel, table: table, state: state)
    } catch {
      socket.removeFile()
      let code = (error as? IOError)?.errnoCode ?? (error as? UnixSocket.Errno)?.code ?? EIO
      throw .failed(call: "listen", path: path, errno: code)
    }
  }

  package var counts: Counts { state.snapshot }

  /// Open connections at this moment.
  package func connectionCount() async -> Int {
    (try? await channel.eventLoop.submit { [table] in table.value.count }.get()) ?? 0
  }

  /// Stops accepting, lets answers that are owed go out for at most `grace`, then closes every connection.
  ///
  /// The file of a socket that we bound is removed first: a caller that comes now starts the next agent. Connections
  /// waiting in the backlog of an inherited socket are left for the next agent.
  package func close(grace: TimeAmount = .seconds(5)) async {
    socket.removeFile()
    try? await channel.close().get()
    let loop = channel.eventLoop
    try? await loop.flatSubmit { [table] in
      let timer = loop.assumeIsolated().scheduleTask(in: grace) { table.value.dropAll() }
      return table.value.quiesce().always { _ in timer.cancel() }
    }.get()
  }
}
