// The least a NIO server can do: serve the listening socket that is descriptor 3, and answer every read with one line.
import NIOCore
import NIOPosix

final class Answering: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(staticString: "{}\n")), promise: nil)
  }
}

@main
enum Main {
  static func main() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let server = try await ServerBootstrap(group: group)
      .serverChannelOption(.maxMessagesPerRead, value: 256)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Answering()) }
      }
      .withBoundSocket(3).get()
    try await server.closeFuture.get()
  }
}
