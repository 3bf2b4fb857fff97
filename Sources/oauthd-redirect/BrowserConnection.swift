import FetchWire
import NIOCore
import NIOHTTP1

/// One connection of a browser: one request, one answer. Used on its event loop only.
final class BrowserConnection: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  let number: UInt32
  private let table: ConnectionTable
  private var context: ChannelHandlerContext?
  private var deadline: Scheduled<Void>?
  private(set) var isAnswered = false
  /// The agent got a request, or the reason why there is none.
  private var hasRequest = false

  init(number: UInt32, table: ConnectionTable) {
    self.number = number
    self.table = table
  }

  var limits: RedirectLimits { table.limits }
  var isOwedAnAnswer: Bool { hasRequest && !isAnswered }

  func channelActive(context: ChannelHandlerContext) {
    self.context = context
    table.add(self)
    close(after: limits.requestMilliseconds)
  }

  func channelInactive(context: ChannelHandlerContext) {
    deadline?.cancel()
    self.context = nil
    table.remove(self)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(let head) = unwrapInboundIn(data), !hasRequest else { return }
    report(.request(number, RedirectRequest(head)))
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch error {
    // A request that the agent judges keeps its own answer; half of one, whose connection has ended, needs none.
    case _ where hasRequest || !context.channel.isActive: break
    case is RequestSizeLimit.Exceeded: report(.unreadable(number, .tooLarge))
    case is HTTPParserError: report(.unreadable(number, .malformed))
    default: context.close(promise: nil)
    }
  }

  private func report(_ report: RedirectReport) {
    hasRequest = true
    deadline?.cancel()
    table.tell(report)
  }

  func answer(_ reply: RedirectReply) {
    guard isOwedAnAnswer, let context else { return }
    isAnswered = true
    close(after: limits.answerMilliseconds)
    context.write(wrapOutboundOut(.head(HTTPResponseHead(reply))), promise: nil)
    context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: reply.page)))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { _ in
      self.context?.close(mode: .output, promise: nil)
      self.deadline?.cancel()
      self.close(after: self.limits.lingerMilliseconds)
    }
  }

  func drop() { context?.close(promise: nil) }

  private func close(after milliseconds: Int) {
    guard let context else { return }
    deadline = context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(Int64(milliseconds))) { self.drop() }
  }
}
