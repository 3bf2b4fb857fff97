import AgentCore
import NIOCore
import NIOHTTP1

/// One connection of a browser: one request, one answer. Used on its event loop only.
final class RedirectConnection: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let session: RedirectSession
  private let limits: RedirectLimits
  private var context: ChannelHandlerContext?
  private var deadline: Scheduled<Void>?
  private(set) var isAnswered = false
  /// The whole head has come.
  private(set) var hasRequest = false

  init(session: RedirectSession) {
    self.session = session
    limits = session.limits
  }

  var isOwedAnAnswer: Bool { hasRequest && !isAnswered }

  func channelActive(context: ChannelHandlerContext) {
    self.context = context
    session.add(self)
    close(after: limits.requestTime)
  }

  func channelInactive(context: ChannelHandlerContext) {
    deadline?.cancel()
    self.context = nil
    session.remove(self)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(let head) = unwrapInboundIn(data), !hasRequest else { return }
    hasRequest = true
    deadline?.cancel()
    session.receive(head, from: self)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard !isAnswered else { return }
    switch error {
    // A request that the login is judging keeps its own answer.
    case _ where hasRequest: break
    case is RequestSizeLimit.Exceeded: answer(.tooLarge)
    case is HTTPParserError: answer(.malformed)
    default: context.close(promise: nil)
    }
  }

  func answer(_ answer: RedirectAnswer) {
    guard !isAnswered, let context else { return }
    isAnswered = true
    deadline?.cancel()
    close(after: limits.answerTime)
    context.write(wrapOutboundOut(.head(answer.head)), promise: nil)
    context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: answer.page)))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { _ in
      self.session.answered(self)
      self.context?.close(mode: .output, promise: nil)
      self.deadline?.cancel()
      self.close(after: self.limits.lingerTime)
    }
  }

  func drop() { context?.close(promise: nil) }

  private func close(after time: TimeAmount) {
    guard let context else { return }
    deadline = context.eventLoop.assumeIsolated().scheduleTask(in: time) { self.drop() }
  }
}
