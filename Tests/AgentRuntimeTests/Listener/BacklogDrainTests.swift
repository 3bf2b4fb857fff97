import AgentWire
import Glibc
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import AgentRuntime

@Suite("The backlog behind an accepted connection")
struct BacklogDrainTests {
  /// What came of a turn: the connections that were set up, and the failures.
  private final class Seen: ChannelInboundHandler, Sendable {
    typealias InboundIn = any Channel
    private let state = Mutex((setUp: [any Channel](), failures: [Int32]()))

    var setUp: [any Channel] { state.withLock { $0.setUp } }
    var failures: [Int32] { state.withLock { $0.failures } }

    func add(_ connection: any Channel) { state.withLock { $0.setUp.append(connection) } }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      if let code = (error as? IOError)?.errnoCode { state.withLock { $0.failures.append(code) } }
    }
  }

  private struct NotAdmitted: Error {}

  private let folder: ScratchFolder
  private var path: String { folder.path + "/agent.sock" }
  private let seen = Seen()

  init() throws { folder = try ScratchFolder() }

  /// A listening channel that accepts nothing by itself: its backlog waits for the drain.
  private func listen(admitting: Bool = true) async throws -> any Channel {
    let socket = try ListeningSocket.open(at: SocketLocation(path: path, source: .environment), uid: getuid())
    let seen = seen
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton.next())
      .serverChannelOption(.autoRead, value: false)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let drain = BacklogDrain { connection, _ in
            seen.add(connection)
            return connection.eventLoop.makeCompletedFuture {
              guard admitting else { throw NotAdmitted() }
              try connection.syncOptions?.setOption(.allowRemoteHalfClosure, value: true)
            }
          }
          try channel.pipeline.syncOperations.addHandlers(drain, seen)
        }
      }
      .withBoundSocket(socket.descriptor).get()
    #expect(Glibc.listen(socket.descriptor, 2 * Int32(BacklogDrain.connectionsInTurn)) == 0)
    return channel
  }

  /// As if the channel had accepted one connection in this turn.
  private func endTurn(_ channel: any Channel) async throws {
    try await channel.eventLoop.submit { channel.pipeline.fireChannelReadComplete() }.get()
  }

  private func leave() async throws {
    let caller = try await RawClient(path: path)
    try await caller.send(Lines.ready(1))
    await caller.close()
  }

  @Test("Whoever has left is never set up; whoever has only ended its sending is, and can be answered")
  func left() async throws {
    let channel = try await listen()
    try await leave()
    let staying = try await RawClient(path: path)
    try await leave()
    let ended = try await RawClient(path: path)
    try await ended.endOutput()
    try await leave()
    try await endTurn(channel)
    #expect(seen.setUp.count == 2)
    for connection in seen.setUp {
      try await connection.writeAndFlush(ByteBuffer(string: "served\n")).get()
      try await connection.close().get()
    }
    #expect(try await staying.received() == "served\n")
    #expect(try await ended.received() == "served\n")
    #expect(seen.failures == [])
    try await channel.close().get()
  }

  @Test("Those who wait behind as many as are taken in one turn wait for the next")
  func bounded() async throws {
    let channel = try await listen()
    for _ in 0..<BacklogDrain.connectionsInTurn { try await leave() }
    let last = try await RawClient(path: path)
    try await endTurn(channel)
    #expect(seen.setUp.isEmpty)
    try await endTurn(channel)
    #expect(seen.setUp.count == 1)
    await last.close()
    try await channel.close().get()
  }

  @Test("A connection that is not admitted is closed")
  func notAdmitted() async throws {
    let channel = try await listen(admitting: false)
    let caller = try await RawClient(path: path)
    try await endTurn(channel)
    #expect(try await caller.received().isEmpty)
    try await channel.close().get()
  }

  @Test("An accept that fails is told with its errno; that nobody waits is no failure")
  func failed() async throws {
    let channel = try await listen()
    try await endTurn(channel)
    #expect(seen.failures == [])
    try await channel.eventLoop.submit {
      _ = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { socket in
        // No socket in its place, for as long as this takes.
        let (kept, other) = (dup(socket), open("/dev/null", O_RDONLY | O_CLOEXEC))
        dup2(other, socket)
        channel.pipeline.fireChannelReadComplete()
        dup2(kept, socket)
        close(kept)
        close(other)
      }
    }.get()
    try await channel.close().get()
    #expect(seen.failures == [ENOTSOCK])
  }
}
