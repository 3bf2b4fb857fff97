import AgentCore
import AgentWire
import NIOCore
import NIOEmbedded
import Testing

@testable import AgentRuntime

@Suite("Events on the socket")
struct EventTests {
  private static let subscribe = #"{"jsonrpc":"2.0","id":1,"method":"events.subscribe"}"# + "\n"

  private static func subscribed(_ responder: ScriptedResponder) async throws -> TestConnection {
    let connection = try await TestConnection.make(responder)
    try await connection.send(subscribe)
    _ = await connection.recorder.waitForLines(1)
    try await connection.onLoop {}
    return connection
  }

  @Test("Events come after the answer, beside other answers, and are wiped like them; a subscriber is never idle")
  func order() async throws {
    let responder = ScriptedResponder(answersAll: true)
    let connection = try await TestConnection.make(responder)
    try await connection.send(Self.subscribe)
    let lines = await connection.recorder.waitForLines(1)
    #expect(lines == ["1"])
    try await connection.onLoop {}
    await connection.advance(.hours(1))
    for count in 1...3 { responder.events.tell(.problems(count)) }
    #expect(await connection.recorder.waitForLines(4).dropFirst().allSatisfy { $0.contains("events.problems") })
    try await connection.send(Lines.ready(2))
    #expect(await connection.recorder.waitForLines(5).last == "ready")
    try await connection.onLoop {}
    #expect(connection.isOpen && connection.recorder.areAnswersWiped)
  }

  @Test("One that takes nothing has one event waiting in its connection, and is dropped after 10 s")
  func slow() async throws {
    let responder = ScriptedResponder(answersAll: true)
    let connection = try await Self.subscribed(responder)
    connection.recorder.setTakes(false)
    for count in 1...1_000 { responder.events.tell(.problems(count)) }
    #expect(await connection.recorder.waitForLines(2).count == 2)
    try await connection.onLoop {}
    #expect(connection.recorder.lines.count == 2)
    await connection.advance(.seconds(10))
    #expect(!connection.isOpen)
    #expect(!responder.events.isFollowed)
  }

  @Test("One that pauses for less is told what it lost, and then the rest")
  func pausing() async throws {
    let responder = ScriptedResponder(answersAll: true)
    let connection = try await Self.subscribed(responder)
    connection.recorder.setTakes(false)
    responder.events.tell(.problems(0))
    _ = await connection.recorder.waitForLines(2)
    for count in 1...1_000 { responder.events.tell(.problems(count)) }
    connection.recorder.setTakes(true)
    try await connection.onLoop { connection.recorder.take() }
    let lines = await connection.recorder.waitForLines(3 + WireLimits.eventsKept)
    #expect(lines[2].contains(#""events.lost","params":{"count":\#(1_000 - WireLimits.eventsKept)}"#))
    #expect(lines.last?.contains(#""count":1000"#) == true)
  }

  @Test("Whoever leaves before the answer, or after it, is told nothing more")
  func leaving() async throws {
    let responder = ScriptedResponder()
    let connection = try await TestConnection.make(responder)
    try await connection.send(Self.subscribe)
    await responder.waitForWaiting(1)
    try await connection.channel.close().get()
    // As if the answer's side had subscribed it only now.
    _ = responder.events.add(1)
    responder.release()
    let loop = connection.channel.testingEventLoop
    while responder.events.isFollowed { try await loop.executeInContext {} }
    #expect(connection.recorder.lines.isEmpty)

    let other = try await Self.subscribed(ScriptedResponder(answersAll: true))
    try await other.endInput()
    #expect(!other.isOpen)
  }

  @Test("Room is made by dropping others first")
  func room() async throws {
    let responder = ScriptedResponder(answersAll: true)
    let loop = NIOAsyncTestingEventLoop()
    var limits = ListenerLimits()
    limits.connections = 2
    let table = try await TestConnection.table(on: loop, limits: limits)
    let told = try await TestConnection(responder, table: table, loop: loop, number: 1)
    try await told.send(Self.subscribe)
    _ = await told.recorder.waitForLines(1)
    try await told.onLoop {}
    await told.advance(.seconds(1))
    let idle = try await TestConnection(responder, table: table, loop: loop, number: 2)
    let newcomer = try await TestConnection(responder, table: table, loop: loop, number: 3)
    #expect(told.isOpen && !idle.isOpen && newcomer.isOpen)
  }
}
