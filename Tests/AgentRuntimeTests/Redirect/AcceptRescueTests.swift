import AgentWire
import Glibc
import NIOCore
import NIOPosix
import Testing

@testable import AgentRuntime

@Suite("The redirect listener out of descriptors")
struct AcceptRescueTests {
  private let folder: ScratchFolder
  private var path: String { folder.path + "/redirect.sock" }

  init() throws { folder = try ScratchFolder() }

  /// A listening channel that accepts nothing by itself: its backlog stands for connections that cannot be accepted.
  private func listen() async throws -> any Channel {
    let socket = try ListeningSocket.open(at: SocketLocation(path: path, source: .environment), uid: getuid())
    return try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton.next())
      .serverChannelOption(.autoRead, value: false)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(AcceptRescue()) }
      }
      .withBoundSocket(socket.descriptor).get()
  }

  private func fail(_ channel: any Channel, _ code: Int32) async throws {
    try await channel.eventLoop.submit {
      channel.pipeline.fireErrorCaught(IOError(errnoCode: code, reason: "accept"))
    }.get()
  }

  @Test("The next caller is taken out of the backlog and closed; with nobody there nothing happens")
  func turnsAway() async throws {
    let channel = try await listen()
    let client = try await RawClient(path: path)
    // The caller that went by itself is another.
    try await fail(channel, ECONNABORTED)
    let staying = try await RawClient(path: path)
    try await fail(channel, EMFILE)
    #expect(try await client.received().isEmpty)
    #expect(staying.channel.isActive)
    try await fail(channel, ENFILE)
    #expect(try await staying.received().isEmpty)
    try await fail(channel, EMFILE)
    try await channel.close().get()
  }
}
