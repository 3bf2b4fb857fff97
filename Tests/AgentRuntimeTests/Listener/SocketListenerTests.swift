import AgentWire
import Glibc
import Testing

@testable import AgentRuntime

@Suite("The listener on a real socket")
struct SocketListenerTests {
  private let folder: ScratchFolder
  private let path: String

  init() throws {
    folder = try ScratchFolder()
    path = folder.path + "/agent.sock"
  }

  private func start(
    _ responder: ScriptedResponder = ScriptedResponder(), limits: ListenerLimits = ListenerLimits(),
    peer: @escaping @Sendable (Int32) -> PeerIdentity? = PeerIdentity.of
  ) async throws -> SocketListener {
    let socket = try ListeningSocket.open(at: SocketLocation(path: path, source: .runtimeDirectory), uid: getuid())
    return try await SocketListener.start(
      socket, uid: getuid(), responder: responder,
      on: try ServingLoop.start(), limits: limits, logger: .silent, peer: peer)
  }

  @Test("A request is answered, and the connection ends after a half-close")
  func answers() async throws {
    let listener = try await start()
    let client = try await RawClient(path: path)
    try await client.send(Lines.ready(1))
    try await client.endOutput()
    #expect(try await client.received() == "ready\n")
    #expect(listener.counts == SocketListener.Counts(accepted: 1, refusedPeers: 0, acceptFailures: 0))
    await listener.close()
    #expect(access(path, F_OK) != 0)
  }

  @Test("The socket's file has mode 0600 whatever the umask")
  func mode() async throws {
    let listener = try await start()
    #expect(SocketLocation.fileStatus(path)?.mode == 0o600)
    await listener.close()
  }

  @Test("The kernel's word on the caller reaches the responder's policies", .timeLimit(.minutes(10)))
  func peer() async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: PeerIdentity?.self)
    let listener = try await start { descriptor in
      let peer = PeerIdentity.of(descriptor)
      continuation.yield(peer)
      return peer
    }
    let client = try await RawClient(path: path)
    var found = stream.makeAsyncIterator()
    #expect(await found.next() == PeerIdentity(uid: getuid(), pid: getpid()))
    await client.close()
    await listener.close()
  }

  @Test(
    "Another user, or one the kernel does not tell, is closed before a byte is read, and counted",
    arguments: [PeerIdentity(uid: getuid() &+ 1, pid: 1), nil])
  func otherUser(_ peer: PeerIdentity?) async throws {
    let listener = try await start { _ in peer }
    let client = try await RawClient(path: path)
    try? await client.send(Lines.ready(1))
    #expect(try await client.received().isEmpty)
    #expect(listener.counts.refusedPeers == 1)
    #expect(listener.counts.accepted == 0)
    await listener.close()
  }

  @Test("A caller that goes before its answer disturbs nobody")
  func leaves() async throws {
    let responder = ScriptedResponder()
    let listener = try await start(responder)
    let leaving = try await RawClient(path: path)
    try await leaving.send(Lines.slow(1))
    await responder.waitForWaiting(1)
    await leaving.close()
    let other = try await RawClient(path: path)
    try await other.send(Lines.slow(2))
    await responder.waitForWaiting(2)
    responder.release()
    try await other.endOutput()
    #expect(try await other.received() == "2\n")
    await listener.close()
  }

  @Test("1,000 requests in one piece, never read until sent, are all answered")
  func pipelined() async throws {
    let listener = try await start(ScriptedResponder(answersAll: true))
    let client = try await RawClient(path: path)
    try await client.send((0..<1_000).map { $0.isMultiple(of: 2) ? Lines.ready($0) : Lines.slow($0) }.joined())
    try await client.endOutput()
    let lines = try await client.received().split(separator: "\n")
    #expect(lines.count { $0 == "ready" } == 500)
    #expect(Set(lines).count == 501)
    await listener.close()
  }

  @Test("Beyond the bound of connections an idle one is dropped, and the newcomer is served")
  func connectionBound() async throws {
    var limits = ListenerLimits()
    limits.connections = 8
    let listener = try await start(limits: limits)
    var idle: [RawClient] = []
    for _ in 0..<30 { idle.append(try await RawClient(path: path)) }
    let extra = try await RawClient(path: path)
    try await extra.send(Lines.ready(1))
    try await extra.endOutput()
    #expect(try await extra.received() == "ready\n")
    // The first of 30 cannot be among the last eight.
    #expect(try await idle[0].received().isEmpty)
    #expect(await listener.connectionCount() <= 8)
    for client in idle { await client.close() }
    await listener.close()
  }

  @Test("Closing lets an owed answer out")
  func closing() async throws {
    let responder = ScriptedResponder()
    let listener = try await start(responder)
    let client = try await RawClient(path: path)
    try await client.send(Lines.slow(1))
    await responder.waitForWaiting(1)
    async let closed: Void = listener.close(grace: .seconds(60))
    responder.release()
    #expect(try await client.received() == "1\n")
    await closed
  }

  @Test("An adopted socket keeps its file when the listener closes, and the next one answers who came in between")
  func adopted() async throws {
    let made = try ListeningSocket.open(at: SocketLocation(path: path, source: .runtimeDirectory), uid: getuid())
    let kept = dup(made.descriptor)
    defer { Glibc.close(kept) }
    func start() async throws -> SocketListener {
      try await SocketListener.start(
        try ListeningSocket.adopt(dup(kept)), uid: getuid(), responder: ScriptedResponder(),
        on: try ServingLoop.start(), logger: .silent)
    }
    Glibc.close(made.descriptor)
    await (try await start()).close()
    #expect(access(path, F_OK) == 0)
    let client = try await RawClient(path: path)
    try await client.send(Lines.ready(1))
    try await client.endOutput()
    let next = try await start()
    #expect(try await client.received() == "ready\n")
    await next.close()
  }
}
