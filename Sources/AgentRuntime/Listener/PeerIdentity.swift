import Glibc
package import NIOCore

/// Who connected, as the kernel tells it (SO_PEERCRED).
package struct PeerIdentity: Sendable, Equatable {
  package var uid: UInt32
  package var pid: Int32

  package init(uid: UInt32, pid: Int32) {
    self.uid = uid
    self.pid = pid
  }

  /// `struct ucred` of the kernel.
  private struct Credentials: Sendable {
    var (pid, uid, gid) = (Int32(0), UInt32(0), UInt32(0))
  }

  /// The peer of a connected Unix socket, or nil when the kernel does not tell. Called on the channel's event loop.
  ///
  /// Asked as a socket option: to ask NIO for the descriptor costs twice as much, a tenth of a short connection.
  package static func ofChannel(_ channel: any Channel) -> PeerIdentity? {
    guard let options = channel as? any SocketOptionProvider else { return nil }
    let asked: EventLoopFuture<Credentials> = options.unsafeGetSocketOption(
      level: .socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED))
    var found: PeerIdentity?
    asked.assumeIsolated().whenSuccess { found = PeerIdentity(uid: $0.uid, pid: $0.pid) }
    return found
  }
}
