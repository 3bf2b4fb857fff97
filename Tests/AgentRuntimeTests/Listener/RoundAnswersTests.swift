import Glibc
import NIOCore
import NIOEmbedded
import Testing

@testable import AgentRuntime

/// Two ends of a socket: one for the connection, one that the test reads.
private final class Ends: Sendable {
  let near: Int32
  private let far: Int32

  init() throws {
    var pair: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0 else { throw UnixSocket.Errno(errno) }
    (near, far) = (pair[0], pair[1])
  }

  deinit {
    close(near)
    close(far)
  }

  /// What has arrived.
  func received() -> String {
    var (all, part) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
    while case let count = recv(far, &part, part.count, Int32(MSG_DONTWAIT)), count > 0 { all += part[..<count] }
    return String(decoding: all, as: UTF8.self)
  }

  func stopReading() { shutdown(far, Int32(SHUT_RD)) }
}

@Suite("The answers of a round")
struct RoundAnswersTests {
  private let ends: Ends
  private let responder = ScriptedResponder()
  private let loop = NIOAsyncTestingEventLoop()

  init() throws { ends = try Ends() }

  private func connect() async throws -> (TestConnection, NIOLoopBound<ConnectionTable>) {
    let table = try await TestConnection.table(on: loop)
    return (try await TestConnection(responder, table: table, loop: loop, descriptor: ends.near), table)
  }

  @Test("They leave together at its end, not through the pipeline, and are wiped where they lay")
  func together() async throws {
    let (connection, table) = try await connect()
    try await connection.arrive(Array((Lines.ready(1) + Lines.ready(2)).utf8))
    #expect(ends.received().isEmpty)
    #expect(try await connection.onLoop { table.value.roundAnswers.block.starts(with: "ready".utf8) })
    await loop.run()
    #expect(ends.received() == "ready\nready\n")
    #expect(connection.recorder.text.isEmpty)
    #expect(try await connection.onLoop { table.value.roundAnswers.block.prefix(12).allSatisfy { $0 == 0 } })
  }

  @Test("What is answered in between goes in between")
  func mixed() async throws {
    let (connection, _) = try await connect()
    try await connection.send(Lines.ready(1) + "nonsense\n" + Lines.ready(2))
    // The first had left before the refusal was written; the second waits behind it.
    #expect(ends.received() == "ready\n")
    #expect(connection.recorder.lines.map { $0.contains("error") } == [true, false])
  }

  @Test("More than the block holds leaves in parts")
  func many() async throws {
    let line = String(repeating: "x", count: 5_000) + "\n"
    responder.setReady(line)
    let (connection, _) = try await connect()
    try await connection.send((0..<20).map(Lines.ready).joined())
    #expect(ends.received() == String(repeating: line, count: 20))
    #expect(connection.recorder.text.isEmpty)
  }

  @Test("What the caller does not take at once follows through the channel, whole and in order")
  func untaken() async throws {
    let line = String(repeating: "0123456789", count: 2_000) + "\n"
    responder.setReady(line)
    let (connection, _) = try await connect()
    try await connection.send((0..<60).map(Lines.ready).joined())
    let direct = ends.received()
    #expect(direct.count > line.count && !connection.recorder.text.isEmpty)
    #expect(direct + connection.recorder.text == String(repeating: line, count: 60))
    #expect(connection.recorder.areAnswersWiped)
    // From here on it takes answers again.
    try await connection.send(Lines.ready(61))
    #expect(ends.received() == line)
  }

  @Test("A caller that cannot be answered any more is dropped")
  func gone() async throws {
    let (connection, _) = try await connect()
    ends.stopReading()
    try await connection.send(Lines.ready(1))
    #expect(!connection.isOpen)
  }
}
