import Glibc
import NIOCore

/// Keeps a listening channel from spinning when no descriptor is left for another connection.
///
/// NIO tries again at once after a failed accept, and its own back-off handler does not stop that: a channel whose
/// accept failed still counts as waiting for one. So the connection that cannot be kept is taken out of the backlog by a
/// descriptor held in reserve, and closed.
final class ReserveDescriptorHandler: ChannelInboundHandler {
  typealias InboundIn = any Channel

  private var reserve: Int32 = -1

  func handlerAdded(context: ChannelHandlerContext) { takeReserve() }

  func handlerRemoved(context: ChannelHandlerContext) { giveReserve() }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // Connections that were refused when they were set up come by here too.
    guard let code = (error as? IOError)?.errnoCode else { return }
    if (code == EMFILE || code == ENFILE), turnAway(context) { return }
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
      close(connection)
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
