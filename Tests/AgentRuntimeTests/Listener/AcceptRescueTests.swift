import AgentWire
import Glibc
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import AgentRuntime

@Suite("Out of descriptors")
struct AcceptRescueTests {
  private let folder: ScratchFolder
  private var path: String { folder.path + "/agent.sock" }

  init() throws { folder = try ScratchFolder() }

  /// A listening channel that accepts nothing by itself: its backlog stands for connections that cannot be accepted.
  private func listen(
    refusing uid: UInt32, makesRoom: Bool, codes: @escaping @Sendable (Int32) -> Void
  ) async throws -> any Channel {
    let socket = try ListeningSocket.open(at: SocketLocation(path: path, source: .environment), uid: getuid())
    return try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton.next())
      .serverChannelOption(.autoRead, value: false)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            AcceptRescue(refusal: Array("full\n".utf8), uid: uid, makeRoom: { makesRoom }, onFailure: codes))
        }
      }
      .withBoundSocket(socket.descriptor).get()
  }

  private func fail(_ channel: any Channel, _ code: Int32) async throws {
    try await channel.eventLoop.submit {
      channel.pipeline.fireErrorCaught(IOError(errnoCode: code, reason: "accept"))
    }.get()
  }

  @Test(
    "When nothing makes room, the next caller is told, if it is ours, and closed",
    arguments: [(getuid(), "full\n"), (getuid() &+ 1, "")])
  func turnsAway(_ uid: UInt32, _ expected: String) async throws {
    let codes = Mutex<[Int32]>([])
    let channel = try await listen(refusing: uid, makesRoom: false) { code in codes.withLock { $0.append(code) } }
    let client = try await RawClient(path: path)
    try await fail(channel, EMFILE)
    #expect(try await client.received() == expected)
    // With an empty backlog there is nothing to do, and it is no failure.
    try await fail(channel, ENFILE)
    #expect(codes.withLock { $0 } == [EMFILE, ENFILE])
    try await channel.close().get()
  }

  @Test("When an older connection makes room, the next caller stays to be accepted")
  func makesRoom() async throws {
    let channel = try await listen(refusing: getuid(), makesRoom: true) { _ in }
    let client = try await RawClient(path: path)
    try await fail(channel, EMFILE)
    let accepted = try await channel.eventLoop.submit { () -> Int32? in
      try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
        accept($0, nil, nil)
      }
    }.get()
    let descriptor = try #require(accepted)
    #expect(descriptor >= 0)
    Glibc.close(descriptor)
    await client.close()
    try await channel.close().get()
  }
}
