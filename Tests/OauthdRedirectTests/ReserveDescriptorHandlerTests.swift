import Glibc
import NIOCore
import NIOPosix
import Testing

@testable import oauthd_redirect

@Suite("The redirect listener out of descriptors")
struct ReserveDescriptorHandlerTests {
  private let loop = MultiThreadedEventLoopGroup.singleton.next()

  /// A listening channel that accepts nothing by itself: its backlog stands for connections that cannot be accepted.
  private func listen() async throws -> any Channel {
    try await ServerBootstrap(group: loop)
      .serverChannelOption(.autoRead, value: false)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(ReserveDescriptorHandler())
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
  }

  private func connect(to listener: any Channel) async throws -> any Channel {
    try await ClientBootstrap(group: loop).connect(to: try #require(listener.localAddress)).get()
  }

  private func fail(_ channel: any Channel, _ code: Int32) async throws {
    try await channel.eventLoop.submit {
      channel.pipeline.fireErrorCaught(IOError(errnoCode: code, reason: "accept"))
    }.get()
  }

  @Test("The next caller is taken out of the backlog and closed; with nobody there nothing happens")
  func turnsAway() async throws {
    let channel = try await listen()
    let client = try await connect(to: channel)
    // The caller that went by itself is another.
    try await fail(channel, ECONNABORTED)
    let staying = try await connect(to: channel)
    try await fail(channel, EMFILE)
    try await client.closeFuture.get()
    #expect(staying.isActive)
    try await fail(channel, ENFILE)
    try await staying.closeFuture.get()
    try await fail(channel, EMFILE)
    try await channel.close().get()
  }
}
