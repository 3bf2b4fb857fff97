import Glibc
import Synchronization
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
    #expect(await connection.isOpen)
    await connection.advance(.milliseconds(999))
    #expect(await connection.isOpen)
    await connection.advance(.milliseconds(1))
    #expect(await !connection.isOpen)
    #expect(connection.text.contains("not finished within 10 s"))
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
    #expect(await connection.isOpen)
    await connection.advance(.milliseconds(1))
    #expect(await !connection.isOpen)
    #expect(connection.lines.count == 6)
  }

  @Test("A connection without requests ends after 5 min; a request starts the time anew")
  func idle() async throws {
    let connection = try await TestConnection.make(ScriptedResponder())
    await connection.advance(.seconds(299))
    try await connection.send(Lines.ready(1))
    await connection.advance(.seconds(299))
    #expect(await connection.isOpen)
    await connection.advance(.seconds(1))
    #expect(await !connection.isOpen)
  }

  @Test("A caller that waits for its answer is not idle")
  func waitingIsNotIdle() async throws {
    let responder = ScriptedResponder()
    let connection = try await TestConnection.make(responder)
    try await connection.send(Lines.slow(1))
    await responder.waitForWaiting(1)
    await connection.advance(.seconds(3_600))
    #expect(await connection.isOpen)
    responder.release()
    #expect(await connection.far.waitForLines(1) == ["1"])
    await connection.loop.turn()
    await connection.advance(.seconds(299))
    #expect(await connection.isOpen)
    await connection.advance(.seconds(1))
    #expect(await !connection.isOpen)
  }

  @Test("An answer that is not taken for 10 s ends the connection")
  func untakenAnswer() async throws {
    let responder = ScriptedResponder()
    responder.setReady(String(repeating: "x", count: 20_000) + "\n")
    let connection = try await TestConnection.make(responder, isNarrow: true)
    try await connection.send(Lines.ready(1))
    await connection.advance(.milliseconds(9_999))
    #expect(await connection.isOpen)
    await connection.advance(.milliseconds(1))
    #expect(await !connection.isOpen)
  }

  @Test("An answer that is taken bit by bit must be taken whole within 10 s; the next has its own 10 s")
  func drippedAnswer() async throws {
    let responder = ScriptedResponder()
    responder.setReady(String(repeating: "x", count: 20_000) + "\n")
    let connection = try await TestConnection.make(responder, isNarrow: true)
    try await connection.send(Lines.ready(1) + Lines.ready(2))
    await connection.advance(.seconds(9))
    var part = [UInt8](repeating: 0, count: 4_000)
    func take() async -> Int {
      let count = recv(connection.far.descriptor, &part, part.count, 0)
      await connection.loop.turn()
      return count
    }
    // The whole first answer and a part of the second.
    var taken = 0
    while taken < 21_000 { taken += await take() }
    await connection.advance(.milliseconds(9_999))
    #expect(await connection.isOpen)
    taken += await take()
    await connection.advance(.milliseconds(1))
    #expect(await !connection.isOpen)
    #expect(taken + connection.text.utf8.count < 2 * 20_001)
  }

  @Test("A line that cannot be read while too many answers are owed is not overdue")
  func lineHeldBack() async throws {
    var limits = ListenerLimits()
    limits.requestsInFlight = 1
    let responder = ScriptedResponder()
    let connection = try await TestConnection.make(responder, limits: limits)
    try await connection.send("{")
    try await connection.send(String(Lines.slow(1).dropFirst()) + Lines.ready(2).prefix(9))
    await responder.waitForWaiting(1)
    try await connection.send(String(Lines.ready(2).dropFirst(9)))
    #expect(unread(connection.near) > 0)
    await connection.advance(.seconds(60))
    #expect(await connection.isOpen)
    responder.release()
    #expect(await connection.far.waitForLines(2) == ["1", "ready"])
  }

  @Test("Nor is one that was begun before, whose rest we do not read")
  func lineNotRead() async throws {
    var limits = ListenerLimits()
    limits.answerTime = .seconds(60)
    let responder = ScriptedResponder()
    let connection = try await TestConnection.make(responder, limits: limits, isNarrow: true)
    let answer = String(repeating: "x", count: 100_000) + "\n"
    try await connection.send(Lines.slow(1) + Lines.ready(2).prefix(9))
    await responder.waitForWaiting(1)
    responder.release(with: answer)
    while connection.far.unreadBytes == 0 { await connection.loop.turn() }
    try await connection.send(String(Lines.ready(2).dropFirst(9)))
    #expect(unread(connection.near) > 0)
    await connection.advance(.seconds(10))
    #expect(await connection.isOpen)
    #expect(await connection.far.received(answer.utf8.count + 6) == answer + "ready\n")
  }

  @Test("The deadlines of one connection do not touch another")
  func independent() async throws {
    let loop = try TestLoop()
    let table = await TestConnection.table(on: loop)
    let slow = try await TestConnection(ScriptedResponder(), table: table, on: loop, number: 1)
    let good = try await TestConnection(ScriptedResponder(), table: table, on: loop, number: 2)
    try await slow.send("{")
    await loop.advance(.seconds(10))
    #expect(await !slow.isOpen)
    try await good.send(Lines.ready(1))
    #expect(await good.isOpen)
    #expect(good.lines == ["ready"])
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
    let loop = try TestLoop()
    let table = await TestConnection.table(on: loop, limits: limits(3))
    var connections: [TestConnection] = []
    for number in 1...3 {
      connections.append(
        try await TestConnection(ScriptedResponder(), table: table, on: loop, number: UInt64(number)))
      await loop.advance(.seconds(1))
    }
    // The first was used since, so the second is the oldest.
    try await connections[0].send(Lines.ready(1))
    let fourth = try await TestConnection(ScriptedResponder(), table: table, on: loop, number: 4)
    #expect(await connections.areOpen == [true, false, true])
    #expect(await fourth.isOpen)
    #expect(await loop.turn { table.value(on: $0).count } == 3)
  }

  @Test("One that is at an unfinished line goes after the idle ones, one that waits for an answer never")
  func order() async throws {
    let loop = try TestLoop()
    let table = await TestConnection.table(on: loop, limits: limits(3))
    let responder = ScriptedResponder()
    let waiting = try await TestConnection(responder, table: table, on: loop, number: 1)
    try await waiting.send(Lines.slow(1))
    await responder.waitForWaiting(1)
    let unfinished = try await TestConnection(responder, table: table, on: loop, number: 2)
    try await unfinished.send("{")
    await loop.advance(.seconds(1))
    let idle = try await TestConnection(responder, table: table, on: loop, number: 3)

    let fourth = try await TestConnection(responder, table: table, on: loop, number: 4)
    #expect(await [waiting, unfinished, idle].areOpen == [true, true, false])
    try await fourth.send(Lines.slow(1))
    await responder.waitForWaiting(2)
    let fifth = try await TestConnection(responder, table: table, on: loop, number: 5)
    #expect(await [waiting, unfinished].areOpen == [true, false])
    try await fifth.send(Lines.slow(1))
    await responder.waitForWaiting(3)

    let turnedAway = try await TestConnection(responder, table: table, on: loop, number: 6)
    #expect(await !turnedAway.isOpen)
    #expect(turnedAway.text.contains("overloaded"))
    #expect(await [waiting, fourth, fifth].areOpen == [true, true, true])
    responder.release()
  }

  @Test("Half lines without end make room for each other, not at the cost of who just came, and by one look at all")
  func halfLines() async throws {
    let loop = try TestLoop()
    let table = await TestConnection.table(on: loop, limits: limits(40))
    let responder = ScriptedResponder()
    let waiting = try await TestConnection(responder, table: table, on: loop, number: 1)
    try await waiting.send(Lines.slow(1))
    await responder.waitForWaiting(1)
    var halves: [TestConnection] = []
    func comeWithHalfALine(_ numbers: ClosedRange<UInt64>) async throws {
      for number in numbers {
        let one = try await TestConnection(responder, table: table, on: loop, number: number)
        try await one.send("{")
        halves.append(one)
      }
    }
    try await comeWithHalfALine(2...40)
    let newcomer = try await TestConnection(responder, table: table, on: loop, number: 100)
    try await comeWithHalfALine(41...58)
    #expect(await [waiting, newcomer].areOpen == [true, true])
    #expect(await halves.areOpen == Array(repeating: false, count: 19) + Array(repeating: true, count: 38))
    #expect(await loop.turn { table.value(on: $0).looksForRoom } == 1)
    responder.release()
  }

  @Test("Quiescing lets owed answers out, closes the rest, and completes")
  func quiesce() async throws {
    let loop = try TestLoop()
    let table = await TestConnection.table(on: loop)
    let responder = ScriptedResponder()
    let idle = try await TestConnection(responder, table: table, on: loop, number: 1)
    let waiting = try await TestConnection(responder, table: table, on: loop, number: 2)
    try await waiting.send(Lines.slow(1))
    await responder.waitForWaiting(1)
    async let emptied: Void = withCheckedContinuation { continuation in
      loop.loop.execute { queue in table.value(on: queue).quiesce { continuation.resume() } }
    }
    while await idle.isOpen { await Task.yield() }
    try await waiting.send(Lines.ready(2))
    responder.release()
    await emptied
    #expect(waiting.lines == ["1"])
    #expect(await !waiting.isOpen)
  }

  @Test("When half of a crowd has left, it is told once; of fewer nobody tells")
  func crowd() async throws {
    let told = Mutex(0)
    let loop = try TestLoop()
    let table = await TestConnection.table(on: loop) { told.withLock { $0 += 1 } }
    func come(_ count: Int) async throws -> [TestConnection] {
      var connections: [TestConnection] = []
      for number in 1...count {
        connections.append(
          try await TestConnection(ScriptedResponder(), table: table, on: loop, number: UInt64(number)))
      }
      return connections
    }
    let few = try await come(ConnectionTable.crowd - 1)
    for connection in few { await connection.leave() }
    #expect(told.withLock { $0 } == 0)
    let crowd = try await come(ConnectionTable.crowd)
    for connection in crowd.prefix(ConnectionTable.crowd / 2 - 1) { await connection.leave() }
    #expect(told.withLock { $0 } == 0)
    await crowd[ConnectionTable.crowd / 2].leave()
    #expect(told.withLock { $0 } == 1)
    for connection in crowd { await connection.leave() }
    #expect(told.withLock { $0 } == 1)
    #expect(await loop.turn { table.value(on: $0).count } == 0)
  }
}
