import CLinux
import Glibc
import NIOCore
import NIOPosix

/// Takes the connections that wait in the backlog behind the one that NIO has accepted.
///
/// NIO makes a channel of every connection and serves it before anybody sees that its caller has left. A process that
/// asks and leaves without a pause is then faster than the agent: the backlog stays full, and every other caller waits
/// behind a thousand of the dead. Here a dead connection costs less than it cost to make: accept, poll, close.
final class BacklogDrain: ChannelInboundHandler {
  typealias InboundIn = any Channel

  /// Taken in one turn of the event loop, so that the connections that are there already are served in between.
  static let connectionsInTurn = 256
  /// Of these the living: more at once would push each other out of the processor's caches before they are served.
  private static let livingInTurn = 32

  typealias Admit = @Sendable (_ channel: any Channel, _ descriptor: NIOBSDSocket.Handle) -> EventLoopFuture<Void>

  private let admit: Admit

  /// `admit` sets a connection up.
  init(admit: @escaping Admit) { self.admit = admit }

  func channelReadComplete(context: ChannelHandlerContext) {
    let code = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
      drain($0, on: context.eventLoop)
    }
    if let code, let code { context.fireErrorCaught(IOError(errnoCode: code, reason: "accept")) }
    context.fireChannelReadComplete()
  }

  /// The errno of an accept that failed for another reason than that nobody waits.
  private func drain(_ listening: Int32, on eventLoop: any EventLoop) -> Int32? {
    var living = 0
    for _ in 0..<Self.connectionsInTurn where living < Self.livingInTurn {
      let connection = clinux_accept(listening)
      guard connection >= 0 else { return errno == EAGAIN ? nil : errno }
      if Self.hasLeft(connection) {
        close(connection)
      } else {
        living += 1
        // A connection that is not admitted is closed by this.
        _ = ClientBootstrap(group: eventLoop).channelInitializer { [admit] in admit($0, connection) }
          .withConnectedSocket(connection)
      }
    }
    return nil
  }

  /// Whether the other end is closed, not only for sending: nobody could read an answer.
  private static func hasLeft(_ connection: Int32) -> Bool {
    var state = pollfd(fd: connection, events: 0, revents: 0)
    return poll(&state, 1, 0) == 1 && state.revents & Int16(POLLHUP) != 0
  }
}
