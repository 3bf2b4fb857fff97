// The least a NIO server can do: serve the listening socket that is descriptor 3, and answer every read with the line
// argv[1], or with `{}`.
import NIOCore
import NIOPosix

final class Answering: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let answer: ByteBuffer

  init(_ answer: ByteBuffer) { self.answer = answer }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
  }
}

@main
enum Main {
  static func main() async throws {
    let answer = ByteBuffer(string: (CommandLine.arguments.dropFirst().first ?? "{}") + "\n")
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let server = try await ServerBootstrap(group: group)
      .serverChannelOption(.maxMessagesPerRead, value: 256)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Answering(answer)) }
      }
      .withBoundSocket(3).get()
    try await server.closeFuture.get()
  }
}
