import AgentCore
import AgentWire
import Testing

@testable import AgentRuntime

@Suite("Events on the socket")
struct EventTests {
  private static let subscribe = #"{"jsonrpc":"2.0","id":1,"method":"events.subscribe"}"# + "\n"

  private static func subscribed(
    _ responder: ScriptedResponder, isNarrow: Bool = false
  ) async throws -> TestConnection {
    let connection = try await TestConnection.make(responder, isNarrow: isNarrow)
    try await connection.send(subscribe)
    _ = await connection.far.waitForLines(1)
    await connection.loop.turn()
    return connection
  }

  @Test("Events come after the answer, beside other answers; a subscriber is never idle")
  func order() async throws {
    let responder = ScriptedResponder(answersAll: true)
    let connection = try await TestConnection.make(responder)
    try await connection.send(Self.subscribe)
    let lines = await connection.far.waitForLines(1)
    #expect(lines == ["1"])
    await connection.loop.turn()
    await connection.advance(.seconds(3_600))
    for count in 1...3 { responder.events.tell(.problems(count)) }
    #expect(await connection.far.waitForLines(4).dropFirst().allSatisfy { $0.contains("events.problems") })
    try await connection.send(Lines.ready(2))
    #expect(await connection.far.waitForLines(5).last == "ready")
    await connection.loop.turn()
    #expect(await connection.isOpen)
  }

  @Test("One that takes nothing has one event waiting in its connection, and is dropped after 10 s")
  func slow() async throws {
    let responder = ScriptedResponder(answersAll: true)
    let connection = try await Self.subscribed(responder, isNarrow: true)
    for count in 1...1_000 { responder.events.tell(.problems(count)) }
    await connection.loop.turn()
    // The rest is there for whoever would fetch it.
    #expect(responder.events.next(for: 1, orWake: {}) != nil)
    await connection.advance(.seconds(10))
    #expect(await !connection.isOpen)
    #expect(!responder.events.isFollowed)
    #expect(connection.lines.count < 20)
  }

  @Test("One that pauses for less is told what it lost, and then the rest")
  func pausing() async throws {
    let responder = ScriptedResponder(answersAll: true)
    let connection = try await Self.subscribed(responder, isNarrow: true)
    responder.setReady(String(repeating: "x", count: 20_000) + "\n")
    try await connection.send(Lines.ready(2))
    for count in 1...1_000 { responder.events.tell(.problems(count)) }
    await connection.loop.turn()
    let lines = await connection.far.waitForLines(3 + WireLimits.eventsKept)
    #expect(lines[2].contains(#""events.lost","params":{"count":\#(1_000 - WireLimits.eventsKept)}"#))
    #expect(lines.last?.contains(#""count":1000"#) == true)
  }

  @Test("Whoever leaves before the answer, or after it, is told nothing more")
  func leaving() async throws {
    let responder = ScriptedResponder()
    let connection = try await TestConnection.make(responder)
    try await connection.send(Self.subscribe)
    await responder.waitForWaiting(1)
    await connection.leave()
    // As if the answer's side had subscribed it only now.
    _ = responder.events.add(1)
    responder.release()
    while responder.events.isFollowed { await connection.loop.turn() }
    #expect(connection.lines.isEmpty)

    let other = try await Self.subscribed(ScriptedResponder(answersAll: true))
    await other.endInput()
    #expect(await !other.isOpen)
  }

  @Test("Room is made by dropping others first")
  func room() async throws {
    let responder = ScriptedResponder(answersAll: true)
    let loop = try TestLoop()
    var limits = ListenerLimits()
    limits.connections = 2
    let table = await TestConnection.table(on: loop, limits: limits)
    let told = try await TestConnection(responder, table: table, on: loop, number: 1)
    try await told.send(Self.subscribe)
    _ = await told.far.waitForLines(1)
    await told.loop.turn()
    await told.advance(.seconds(1))
    let idle = try await TestConnection(responder, table: table, on: loop, number: 2)
    let newcomer = try await TestConnection(responder, table: table, on: loop, number: 3)
    #expect(await [told, idle, newcomer].areOpen == [true, false, true])
  }
}
