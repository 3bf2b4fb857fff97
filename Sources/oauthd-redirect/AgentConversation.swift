import FetchWire
import NIOCore

/// The conversation with the agent: takes its orders, tells it what happens. Used on the event loop only.
final class AgentConversation: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let follow: (RedirectOrder) -> Void
  private var stream = RedirectStream<RedirectOrder>()
  private var context: ChannelHandlerContext?

  init(follow: @escaping (RedirectOrder) -> Void) { self.follow = follow }

  func tell(_ report: RedirectReport) {
    guard let context else { return }
    do {
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: try report.encoded())), promise: nil)
    } catch { Main.end("a request could not be passed on") }
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    unwrapInboundIn(data).withUnsafeReadableBytes { stream.append($0) }
    do {
      while let order = try stream.next() { follow(order) }
    } catch FetchWireError.versionMismatch {
      Main.end("oauthd and oauthd-redirect are of different versions; restart oauthd")
    } catch {
      Main.end("an order of the agent could not be read")
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  /// The agent is gone, or has no more use for this process.
  func channelInactive(context: ChannelHandlerContext) { BrowserListener.endProcess() }
}
