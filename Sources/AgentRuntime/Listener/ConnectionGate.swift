import AgentCore
import Logging
import NIOCore
import NIOPosix
import Synchronization

/// Decides about each new connection before a byte of it is read.
final class ConnectionGate: Sendable {
  private let listener: String
  private let uid: UInt32
  private let responder: any LineResponder
  private let table: NIOLoopBound<ConnectionTable>
  private let state: SocketListener.State
  private let logger: Logger
  private let peer: @Sendable (NIOBSDSocket.Handle) -> PeerIdentity?
  /// Unique in this agent's life, over all listeners.
  private static let numbers = Atomic<UInt64>(0)

  struct OtherUser: Error {}

  init(
    listener: String, uid: UInt32, responder: any LineResponder, table: NIOLoopBound<ConnectionTable>,
    state: SocketListener.State, logger: Logger, peer: @escaping @Sendable (NIOBSDSocket.Handle) -> PeerIdentity?
  ) {
    self.listener = listener
    self.uid = uid
    self.responder = responder
    self.table = table
    self.state = state
    self.logger = logger
    self.peer = peer
  }

  /// Sets a connection of our own user up; fails, which closes it, for any other. `descriptor` is asked for if it is not
  /// known.
  func admit(_ channel: any Channel, _ descriptor: NIOBSDSocket.Handle? = nil) -> EventLoopFuture<Void> {
    let descriptor =
      descriptor
      ?? (try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { $0 })
    let found = descriptor.flatMap(peer)
    guard let found, found.uid == uid else {
      refuse(found)
      return channel.eventLoop.makeFailedFuture(OtherUser())
    }
    state.count { $0.accepted += 1 }
    let number = Self.numbers.add(1, ordering: .relaxed).newValue
    let caller = Caller(listener: listener, uid: found.uid, pid: found.pid, connection: number)
    return channel.eventLoop.makeCompletedFuture {
      // A caller may shut its sending side down after the last request and still wants the answer.
      try channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: true)
      // One read a round: what is held in memory beyond the limits stays small, and nobody is served twice in a row.
      try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
      try channel.pipeline.syncOperations.addHandler(
        ConnectionHandler(caller: caller, responder: responder, table: table.value, descriptor: descriptor))
    }
  }

  private func refuse(_ found: PeerIdentity?) {
    let count = state.count { $0.refusedPeers += 1 }.refusedPeers
    // At the powers of two, so that a flood does not fill the log.
    guard count & (count - 1) == 0 else { return }
    logger.notice(
      "refused a connection of another user",
      metadata: [
        "listener": "\(listener)", "uid": "\(found.map { String($0.uid) } ?? "unknown")",
        "pid": "\(found.map { String($0.pid) } ?? "unknown")", "refused": "\(count)",
      ])
  }

  /// Counts and tells that a connection could not be accepted.
  func acceptFailed(_ code: Int32) {
    let count = state.count { $0.acceptFailures += 1 }.acceptFailures
    guard count & (count - 1) == 0 else { return }
    logger.error(
      "cannot accept a connection",
      metadata: ["listener": "\(listener)", "errno": "\(code)", "failures": "\(count)"])
  }
}
