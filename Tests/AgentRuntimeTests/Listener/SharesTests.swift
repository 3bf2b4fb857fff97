import AgentWire
import Testing

@testable import AgentRuntime

@Suite("What all connections share")
struct SharesTests {
  private static func list(_ id: Int) -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"agent.status","params":{}}"# + "\n"
  }
  private static func token(_ id: Int) -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"token.get","params":{"account":"slow"}}"# + "\n"
  }

  private func connections(
    _ count: Int, _ responder: ScriptedResponder, _ limits: ListenerLimits, isNarrow: Bool = false
  ) async throws -> (TestLoop, [TestConnection]) {
    let loop = try TestLoop()
    let table = await TestConnection.table(on: loop, limits: limits)
    var connections: [TestConnection] = []
    for number in 1...count {
      connections.append(
        try await TestConnection(responder, table: table, on: loop, number: UInt64(number), isNarrow: isNarrow))
    }
    return (loop, connections)
  }

  @Test("Few lists are made at the same time, for all connections together, and each connection has its turn")
  func listings() async throws {
    let responder = ScriptedResponder()
    let (_, connections) = try await connections(3, responder, ListenerLimits())
    for (number, connection) in connections.enumerated() {
      try await connection.send((0..<20).map { Self.list(100 * number + $0) }.joined())
    }
    await responder.waitForWaiting(WireLimits.listings)
    #expect(responder.asked.count == WireLimits.listings)
    // The first has begun as many as there may be; from then on one after the other has one.
    for released in 1...20 {
      let next = responder.asked[released - 1]
      responder.release(next)
      await responder.waitForAsked(WireLimits.listings + released)
    }
    let owners = responder.asked.dropFirst(WireLimits.listings).map { (Int($0.text) ?? 0) / 100 }
    #expect(Array(owners.prefix(9)) == [0, 1, 2, 0, 1, 2, 0, 1, 2])
    while responder.asked.count < 60 || responder.waitingCount > 0 {
      responder.release()
      await Task.yield()
    }
    for connection in connections { #expect(await connection.far.waitForLines(20).count == 20) }
  }

  @Test("Each connection may wait for some tokens whatever others do, and all for no more than there is room for")
  func tokens() async throws {
    var limits = ListenerLimits()
    limits.tokenRequests = RequestShares.Bound(each: 2, all: 30)
    let responder = ScriptedResponder()
    let (loop, connections) = try await connections(3, responder, limits)
    try await connections[0].send((0..<64).map { Self.token($0) }.joined())
    await responder.waitForAsked(30)
    for connection in connections.dropFirst() {
      try await connection.send((0..<64).map { Self.token(100 + $0) }.joined())
    }
    await responder.waitForAsked(34)
    await loop.turn()
    #expect(responder.asked.count == 34)
    while responder.waitingCount > 0 || responder.asked.count < 192 {
      responder.release()
      await Task.yield()
    }
    for connection in connections { #expect(await connection.far.waitForLines(64).count == 64) }
  }

  @Test("Other requests of one connection do not take the place of another's")
  func others() async throws {
    var limits = ListenerLimits()
    limits.otherRequests = RequestShares.Bound(each: 1, all: 5)
    let responder = ScriptedResponder()
    let (_, connections) = try await connections(2, responder, limits)
    try await connections[0].send((0..<20).map(Lines.slow).joined())
    await responder.waitForAsked(5)
    try await connections[1].send(Lines.slow(100))
    await responder.waitForAsked(6)
    #expect(responder.asked.last == .number(100))
    responder.release(.number(100))
    #expect(await connections[1].far.waitForLines(1) == ["100"])
    // Who leaves with a request held back disturbs nobody.
    await connections[0].leave()
    responder.release()
    try await connections[1].send((200..<210).map(Lines.slow).joined())
    await responder.waitForAsked(11)
    while responder.asked.count < 16 || responder.waitingCount > 0 {
      responder.release()
      await Task.yield()
    }
    #expect(await connections[1].far.waitForLines(11).count == 11)
  }

  @Test("Whoever comes while others stand in line is behind them, even where there is room")
  func line() async throws {
    let (loop, connections) = try await connections(1, ScriptedResponder(), ListenerLimits())
    let connection = connections[0].connection
    let begun = await loop.turn { queue in
      var limits = ListenerLimits()
      limits.otherRequests = RequestShares.Bound(each: 1, all: 5)
      let shares = RequestShares(limits)
      let first = shares.begin(.other, having: 1, isNext: false)
      shares.standInLine(connection.value(on: queue), for: .other)
      return [
        first, shares.begin(.other, having: 1, isNext: false), shares.begin(.other, having: 1, isNext: true),
        shares.begin(.other, having: 0, isNext: false),
      ]
    }
    #expect(begun == [true, false, true, true], "in line, behind it, with its turn, and with a share of its own")
  }

  @Test("When untaken answers use up what all have in common, those who take none are dropped, the longest first")
  func untaken() async throws {
    var limits = ListenerLimits()
    // As much as two answers for two callers, and one of the third.
    limits.sharedBytes = 190_000
    let responder = ScriptedResponder()
    responder.setReady(String(repeating: "x", count: 40_000) + "\n")
    let (loop, connections) = try await connections(4, responder, limits, isNarrow: true)
    for connection in connections.prefix(3) {
      try await connection.send(Lines.ready(1) + Lines.ready(2))
      await loop.advance(.milliseconds(1))
    }
    // Nobody has held more than its own for long.
    #expect(await connections.areOpen == [true, true, true, true])
    await loop.advance(.seconds(1))
    #expect(await connections.areOpen == [false, true, true, true])
    // There is room again.
    let line = String(repeating: "x", count: 40_000) + "\n"
    try await connections[3].send(Lines.ready(3))
    #expect(await connections[3].far.received(line.utf8.count) == line)
    #expect(await connections.areOpen == [false, true, true, true])
  }

  @Test("Unfinished lines count as well, and a short line is read whatever others hold")
  func unfinished() async throws {
    var limits = ListenerLimits()
    limits.sharedBytes = 120_000
    let responder = ScriptedResponder()
    let (loop, connections) = try await connections(4, responder, limits)
    for connection in connections.prefix(3) {
      try await connection.send(String(repeating: "x", count: 60_000))
      await loop.advance(.milliseconds(1))
    }
    #expect(unread(connections[2].near) > 0, "no room for all of the third")
    try await connections[3].send(Lines.ready(1))
    #expect(connections[3].lines == ["ready"])
    await loop.advance(.seconds(1))
    #expect(await connections.areOpen == [false, true, true, true])
    // It is read in pieces.
    for _ in 0..<100 where unread(connections[2].near) > 0 { await loop.advance(.milliseconds(1)) }
    #expect(unread(connections[2].near) == 0, "there is room again")
  }

  @Test("Answers that many wait for are written when their callers take them")
  func parked() async throws {
    let responder = ScriptedResponder()
    let token = String(repeating: "t", count: 20_000)
    responder.setToken(token)
    let connection = try await TestConnection.make(responder, isNarrow: true)
    try await connection.send((0..<40).map { Self.token($0) }.joined())
    await responder.waitForWaiting(40)
    responder.release()
    let lines = await connection.far.waitForLines(40)
    #expect(lines.count == 40)
    #expect(lines.allSatisfy { $0.contains(token) })
  }
}

@Suite("Bytes that connections hold")
struct BufferBudgetTests {
  @Test("What is a connection's own counts for nothing; what lies beyond is used up, and free again with an eighth")
  func limits() {
    var bytes = BufferBudget(share: 10, limit: 80)
    #expect(bytes.beyond(unfinished: 10, untaken: 10) == 0)
    #expect(bytes.beyond(unfinished: 11, untaken: 12) == 3)
    #expect(bytes.change(from: 0, to: 79) == false)
    #expect(!bytes.isUsedUp)
    #expect(bytes.change(from: 0, to: 1) == false)
    #expect(bytes.isUsedUp)
    #expect(bytes.change(from: 79, to: 70) == false)
    #expect(bytes.isUsedUp)
    #expect(bytes.change(from: 70, to: 69) == true)
    #expect(!bytes.isUsedUp && bytes.total == 70)
  }
}
