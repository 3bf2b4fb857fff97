import NIOCore

/// Stops a request that is too long before the HTTP parser stores it.
final class RequestSizeLimit: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  struct Exceeded: Error {}

  private var bytesLeft: Int
  private var isExceeded = false

  init(bytes: Int) { bytesLeft = bytes }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // One request a connection: what comes after it counts as well, and is dropped the same.
    let buffer = unwrapInboundIn(data)
    guard !isExceeded else { return }
    guard buffer.readableBytes <= bytesLeft else {
      isExceeded = true
      context.fireErrorCaught(Exceeded())
      return
    }
    bytesLeft -= buffer.readableBytes
    context.fireChannelRead(data)
  }
}
