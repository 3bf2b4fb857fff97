import NIOCore
import NIOEmbedded
import Testing

@testable import AgentRuntime

@Suite("Deadlines of the socket")
struct DeadlineTests {
  @Test("A line that was begun must be finished within 10 s, however slowly it drips")
  func unfinishedLine() async throws {
    let connection = try await TestConnection.make(ScriptedResponder())
    for _ in 0..<9 {
      try await connection.send("{")
      await connection.advance(.seconds(1))
    }
    #expect(connection.isOpen)
    await connection.advance(.milliseconds(999))
    #expect(connection.isOpen)
    await connection.advance(.milliseconds(1))
    #expect(!connection.isOpen)
    #expect(connection.recorder.text.contains("not finished within 10 s"))
  }

  @Test("Each line has its own 10 s: whole lines in between start the time anew")
  func nextLine() async throws {
    let connection = try await TestConnection.make(ScriptedResponder())
    let line = Lines.ready(1)
    try await connection.send(String(line.prefix(8)))
    for _ in 0..<5 {
      await connection.advance(.seconds(9))
      // The end of one line and the beginning of the next in one read.
      try await connection.send(String(line.dropFirst(8)) + String(line.prefix(8)))
    }
    await connection.advance(.milliseconds(9_999))
    #expect(connection.isOpen)
    await connection.advance(.milliseconds(1))
    #expect(!connection.isOpen)
    #expect(connection.recorder.lines.count == 6)
  }

  @Test("A connection without requests ends after 5 min; a request starts the time anew")
  func idle() async throws {
    let connection = try await TestConnection.make(ScriptedResponder())
    await connection.advance(.seconds(299))
    try await connection.send(Lines.ready(1))
    await connection.advance(.seconds(299))
    #expect(connection.isOpen)
    await connection.advance(.seconds(1))
    #expect(!connection.isOpen)
  }

  @Test("A caller that waits for its answer is not idle")
  func waitingIsNotIdle() async throws {
    let responder = ScriptedResponder()
    let connection = try await TestConnection.make(responder)
    try await connection.send(Lines.slow(1))
    await responder.waitForWaiting(1)
    await connection.advance(.hours(1))
    #expect(connection.isOpen)
    responder.release()
    #expect(await connection.recorder.waitForLines(1) == ["1"])
    try await connection.onLoop {}
    await connection.advance(.seconds(299))
    #expect(connection.isOpen)
    await connection.advance(.seconds(1))
    #expect(!connection.isOpen)
  }

  @Test("An answer that is not taken for 10 s ends the connection")
  func untakenAnswer() async throws {
    let connection = try await TestConnection.make(ScriptedResponder())
    connection.recorder.setTakes(false)
    try await connection.send(Lines.ready(1))
    await connection.advance(.milliseconds(9_999))
    #expect(connection.isOpen)
    await connection.advance(.milliseconds(1))
    #expect(!connection.isOpen)
    #expect(connection.recorder.areAnswersWiped)
  }

  @Test("The deadlines of one connection do not touch another")
  func independent() async throws {
    let loop = NIOAsyncTestingEventLoop()
    let table = try await TestConnection.table(on: loop)
    let slow = try await TestConnection(ScriptedResponder(), table: table, loop: loop, number: 1)
    let good = try await TestConnection(ScriptedResponder(), table: table, loop: loop, number: 2)
    try await slow.send("{")
    await loop.advanceTime(by: .seconds(10))
    #expect(!slow.isOpen)
    try await good.send(Lines.ready(1))
    #expect(good.isOpen)
    #expect(good.recorder.lines == ["ready"])
  }
}

@Suite("The table of connections")
struct ConnectionTableTests {
  private func limits(_ connections: Int) -> ListenerLimits {
    var limits = ListenerLimits()
    limits.connections = connections
    return limits
  }

  @Test("At the bound the one that was idle longest is dropped")
  func oldestIdle() async throws {
    let loop = NIOAsyncTestingEventLoop()
    let table = try await TestConnection.table(on: loop, limits: limits(3))
    var connections: [TestConnection] = []
    for number in 1...3 {
      connections.append(
        try await TestConnection(ScriptedResponder(), table: table, loop: loop, number: UInt64(number)))
      await loop.advanceTime(by: .seconds(1))
    }
    // The first was used since, so the second is the oldest.
    try await connections[0].send(Lines.ready(1))
    let fourth = try await TestConnection(ScriptedResponder(), table: table, loop: loop, number: 4)
    #expect(connections.map(\.isOpen) == [true, false, true])
    #expect(fourth.isOpen)
    let count = try await fourth.onLoop { table.value.count }
    #expect(count == 3)
  }

  @Test("One that is at an unfinished line goes after the idle ones, one that waits for an answer never")
  func order() async throws {
    let loop = NIOAsyncTestingEventLoop()
    let table = try await TestConnection.table(on: loop, limits: limits(3))
    let responder = ScriptedResponder()
    let waiting = try await TestConnection(responder, table: table, loop: loop, number: 1)
    try await waiting.send(Lines.slow(1))
    await responder.waitForWaiting(1)
    let unfinished = try await TestConnection(responder, table: table, loop: loop, number: 2)
    try await unfinished.send("{")
    await loop.advanceTime(by: .seconds(1))
    let idle = try await TestConnection(responder, table: table, loop: loop, number: 3)

    let fourth = try await TestConnection(responder, table: table, loop: loop, number: 4)
    #expect([waiting, unfinished, idle].map(\.isOpen) == [true, true, false])
    try await fourth.send(Lines.slow(1))
    await responder.waitForWaiting(2)
    let fifth = try await TestConnection(responder, table: table, loop: loop, number: 5)
    #expect([waiting, unfinished].map(\.isOpen) == [true, false])
    try await fifth.send(Lines.slow(1))
    await responder.waitForWaiting(3)

    let turnedAway = try await TestConnection(responder, table: table, loop: loop, number: 6)
    #expect(!turnedAway.isOpen)
    #expect(turnedAway.recorder.text.contains("overloaded"))
    #expect([waiting, fourth, fifth].map(\.isOpen) == [true, true, true])
    responder.release()
  }

  @Test("Quiescing lets owed answers out, closes the rest, and completes")
  func quiesce() async throws {
    let loop = NIOAsyncTestingEventLoop()
    let table = try await TestConnection.table(on: loop)
    let responder = ScriptedResponder()
    let idle = try await TestConnection(responder, table: table, loop: loop, number: 1)
    let waiting = try await TestConnection(responder, table: table, loop: loop, number: 2)
    try await waiting.send(Lines.slow(1))
    await responder.waitForWaiting(1)
    let emptied = try await idle.onLoop { table.value.quiesce() }
    #expect(!idle.isOpen)
    try await waiting.send(Lines.ready(2))
    responder.release()
    try await emptied.get()
    #expect(waiting.recorder.lines == ["1"])
    #expect(!waiting.isOpen)
  }
}
