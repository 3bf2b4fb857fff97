import CLinux
import Glibc
import NIOCore

/// Keeps a listening channel from spinning when no descriptor is left for another connection.
///
/// NIO tries again at once after a failed accept, and its own back-off handler does not stop that: a channel whose
/// accept failed still counts as waiting for one. So the connection that cannot be kept is taken out of the backlog: an
/// older one makes room for it, or a descriptor held in reserve takes it long enough to be told and closed.
final class AcceptRescue: ChannelInboundHandler {
  typealias InboundIn = any Channel

  private let refusal: [UInt8]
  private let uid: UInt32?
  private let makeRoom: () -> Bool
  private let onFailure: (Int32) -> Void
  private var reserve: Int32 = -1

  /// `refusal` is sent to a peer of user `uid` before it is closed; `makeRoom` closes an older connection if it can;
  /// `onFailure` hears of every failure with its errno.
  init(
    refusal: [UInt8] = [], uid: UInt32? = nil, makeRoom: @escaping () -> Bool = { false },
    onFailure: @escaping (Int32) -> Void = { _ in }
  ) {
    self.refusal = refusal
    self.uid = uid
    self.makeRoom = makeRoom
    self.onFailure = onFailure
  }

  func handlerAdded(context: ChannelHandlerContext) { takeReserve() }

  func handlerRemoved(context: ChannelHandlerContext) { giveReserve() }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // Connections that were refused when they were set up come by here too.
    guard let code = (error as? IOError)?.errnoCode else { return }
    onFailure(code)
    if (code == EMFILE || code == ENFILE), makeRoom() || turnAway(context) { return }
    // The caller went by itself.
    if code == ECONNABORTED { return }
    // Nothing helps at this moment (no memory, no reserve): this thread rests instead of burning the processor.
    usleep(10_000)
  }

  /// Takes one connection out of the backlog and closes it.
  private func turnAway(_ context: ChannelHandlerContext) -> Bool {
    giveReserve()
    defer { takeReserve() }
    let taken = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
      let connection = accept($0, nil, nil)
      guard connection >= 0 else { return errno == EAGAIN }
      defer { close(connection) }
      var (peer, group, process) = (UInt32(0), UInt32(0), Int32(0))
      if !refusal.isEmpty, clinux_peer_credentials(connection, &peer, &group, &process) == 0, peer == uid {
        _ = send(connection, refusal, refusal.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
      }
      return true
    }
    return taken == true
  }

  private func takeReserve() { if reserve < 0 { reserve = open("/dev/null", O_RDONLY | O_CLOEXEC) } }

  private func giveReserve() {
    if reserve >= 0 { close(reserve) }
    reserve = -1
  }
}
