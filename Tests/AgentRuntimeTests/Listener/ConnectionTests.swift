import AgentWire
import Testing

@testable import AgentRuntime

@Suite("Connections")
struct ConnectionTests {
  @Test("A ready token is answered on the loop, without asking the responder's slow side")
  func hotPath() async throws {
    let responder = ScriptedResponder()
    let connection = try await TestConnection.make(responder)
    try await connection.send(Lines.ready(1))
    #expect(connection.lines == ["ready"])
    #expect(responder.asked.isEmpty)
  }

  @Test("Answers come in the order they are ready")
  func anyOrder() async throws {
    let responder = ScriptedResponder()
    let connection = try await TestConnection.make(responder)
    try await connection.send(Lines.slow(1) + Lines.slow(2) + Lines.ready(3))
    await responder.waitForWaiting(2)
    responder.release(.number(2))
    #expect(await connection.far.waitForLines(2) == ["ready", "2"])
    responder.release(.number(1))
    #expect(await connection.far.waitForLines(3) == ["ready", "2", "1"])
  }

  @Test("What was read is wiped where it lay, once it is served")
  func wiped() async throws {
    let loop = try TestLoop()
    let table = await TestConnection.table(on: loop)
    let connection = try await TestConnection(ScriptedResponder(), table: table, on: loop)
    let request = Lines.ready(1)
    try await connection.send(request)
    #expect(connection.lines == ["ready"])
    let isWiped = await loop.turn { queue in
      var isWiped = false
      table.value(on: queue).withInput { input in
        isWiped = input.prefix(request.utf8.count).allSatisfy { $0 == 0 }
        return 0
      }
      return isWiped
    }
    #expect(isWiped)
  }

  @Test(
    "A malformed line is refused without an id, and the connection goes on",
    arguments: [
      "", "{", "[]", "null", "{}", "\u{FEFF}{}", "\0", #"{"jsonrpc":"2.0","method":"agent.status"}"#,
      #"{"jsonrpc":"2.0","id":1,"method":"agent.status"}"# + "\r", "\r",
      #"{"jsonrpc":"2.0","id":1e400,"method":"agent.status"}"#,
    ])
  func malformed(_ line: String) async throws {
    let responder = ScriptedResponder()
    let connection = try await TestConnection.make(responder)
    try await connection.send(line + "\n" + Lines.ready(1))
    let lines = connection.lines
    #expect(lines.count == 2)
    #expect(lines.first?.hasPrefix(#"{"jsonrpc":"2.0","id":null,"error""#) == true)
    #expect(lines.last == "ready")
    #expect(await connection.isOpen)
    #expect(responder.asked.isEmpty)
  }

  @Test("Bytes that are no UTF-8 are refused, and the connection goes on")
  func notUTF8() async throws {
    let connection = try await TestConnection.make(ScriptedResponder())
    try await connection.send([0x22, 0xFF, 0xFE, 0x22, 0x0A] + Array(Lines.ready(1).utf8))
    #expect(connection.lines.last == "ready")
    #expect(connection.lines.count == 2)
  }

  @Test("A line that is too long is refused, and the connection ends", arguments: [false, true])
  func tooLong(_ withLineFeed: Bool) async throws {
    let connection = try await TestConnection.make(ScriptedResponder())
    let line = [UInt8](repeating: UInt8(ascii: "x"), count: WireLimits.requestBytes)
    try await connection.send(line + (withLineFeed ? [0x0A] : []) + Array(Lines.ready(1).utf8))
    #expect(connection.lines.count == 1)
    #expect(connection.text.contains("longer than 65536 bytes"))
    #expect(await !connection.isOpen)
  }

  @Test(
    "HTTP gets one error line, and the connection ends",
    arguments: ["GET / HTTP/1.1\r\nHost: x\r\n\r\n", "POST /token HTTP/1.0\r\n\r\n{}\n", "GET http://x/ HTTP/1.1\n"])
  func http(_ request: String) async throws {
    let connection = try await TestConnection.make(ScriptedResponder())
    try await connection.send(request)
    #expect(connection.lines.count == 1)
    #expect(connection.text.contains("no HTTP server"))
    #expect(await !connection.isOpen)
  }

  @Test("An id that is in use is refused without the id, on the fast path too; it is free after the answer")
  func idInUse() async throws {
    let responder = ScriptedResponder()
    let connection = try await TestConnection.make(responder)
    try await connection.send(Lines.slow(7))
    await responder.waitForWaiting(1)
    for again in [Lines.slow(7) + Lines.ready(7), Lines.ready(7)] { try await connection.send(again) }
    #expect(connection.lines.count == 3)
    #expect(connection.lines.allSatisfy { $0.contains(#""id":null"#) && $0.contains("in use") })
    responder.release()
    _ = await connection.far.waitForLines(4)
    try await connection.send(Lines.ready(7))
    #expect(await connection.far.waitForLines(5).suffix(2) == ["7", "ready"])
    #expect(responder.asked.count == 1)
  }

  @Test("At most 64 requests are in flight: the rest waits unread, and goes on when answers are taken")
  func inFlightLimit() async throws {
    let responder = ScriptedResponder()
    let connection = try await TestConnection.make(responder)
    let all = (0..<200).map(Lines.slow).joined()
    try await connection.send(all)
    await responder.waitForWaiting(64)
    try await connection.send(Lines.slow(200))
    // What one read has taken waits here, the rest in the kernel.
    let sent = all.utf8.count + Lines.slow(200).utf8.count
    #expect(unread(connection.near) == sent - WireLimits.ownBytes)
    #expect(responder.asked.count == 64)
    for released in 1...4 {
      responder.release()
      _ = await connection.far.waitForLines(min(released * 64, 201))
      await responder.waitForWaiting(min(64, 201 - min(released * 64, 201)))
    }
    #expect(Set(connection.lines) == Set((0..<201).map(String.init)))
    #expect(unread(connection.near) == 0)
  }

  @Test("Answers that are not taken count: a caller that never reads gets no more than 64 made")
  func untakenAnswers() async throws {
    let responder = ScriptedResponder()
    let line = String(repeating: "x", count: 899) + "\n"
    responder.setReady(line)
    let connection = try await TestConnection.make(responder, isNarrow: true)
    try await connection.send((0..<500).map(Lines.ready).joined())
    #expect(responder.readyCount == 64 + connection.far.unreadBytes / line.utf8.count)
    #expect(await connection.far.received(500 * line.utf8.count) == String(repeating: line, count: 500))
    #expect(await connection.isOpen)
  }

  @Test("Few large answers that are not taken count by their bytes")
  func untakenBytes() async throws {
    let responder = ScriptedResponder()
    let line = String(repeating: "x", count: 19_999) + "\n"
    responder.setReady(line)
    let connection = try await TestConnection.make(responder, isNarrow: true)
    try await connection.send((0..<60).map(Lines.ready).joined())
    // The fourth was begun when less than 64 KiB waited.
    #expect(responder.readyCount == 4)
    #expect(await connection.far.received(60 * line.utf8.count) == String(repeating: line, count: 60))
  }

  @Test("After a half-close the answers still come, then the connection ends")
  func halfClose() async throws {
    let responder = ScriptedResponder()
    let connection = try await TestConnection.make(responder)
    try await connection.send(Lines.slow(1) + Lines.ready(2) + "{\"unfinished")
    await responder.waitForWaiting(1)
    await connection.endInput()
    #expect(await connection.isOpen)
    responder.release()
    #expect(await connection.far.waitForLines(2) == ["ready", "1"])
    #expect(await connection.far.received() == "ready\n1\n")
  }

  @Test("A half-close with nothing owed ends the connection at once")
  func halfCloseIdle() async throws {
    let connection = try await TestConnection.make(ScriptedResponder())
    try await connection.send(Lines.ready(2))
    await connection.endInput()
    #expect(await !connection.isOpen)
  }

  @Test("A caller that leaves while we read nothing, or that cannot be answered, is let go", arguments: [false, true])
  func gone(_ onlyStopsReading: Bool) async throws {
    var limits = ListenerLimits()
    limits.requestsInFlight = 1
    let responder = ScriptedResponder()
    let connection = try await TestConnection.make(responder, limits: limits)
    if onlyStopsReading {
      let far = connection.far
      await connection.loop.turn { _ in far.stopReading() }
      #expect(await connection.isOpen)
      try await connection.send(Lines.ready(1))
    } else {
      try await connection.send(Lines.slow(1))
      await responder.waitForWaiting(1)
      #expect(await connection.isOpen)
      await connection.leave()
      responder.release()
    }
    #expect(await !connection.isOpen)
  }

  @Test("A caller that leaves cancels nothing")
  func leaving() async throws {
    let responder = ScriptedResponder()
    let connection = try await TestConnection.make(responder)
    try await connection.send(Lines.slow(1))
    await responder.waitForWaiting(1)
    await connection.leave()
    responder.release()
    await connection.loop.turn()
    #expect(connection.lines.isEmpty)
    #expect(responder.asked == [.number(1)])
  }

  @Test("What looks like a request of its own is the rest of a line, when one was begun")
  func restOfLine() async throws {
    let connection = try await TestConnection.make(ScriptedResponder())
    try await connection.send(Lines.ready(1))
    try await connection.send("x")
    try await connection.send(Lines.ready(2))
    try await connection.send(Lines.ready(3))
    #expect(connection.lines.map { $0 == "ready" } == [true, false, true])
  }

  @Test("Any split of a request into two reads gives the same answer")
  func splitRequests() async throws {
    let bytes = Array((Lines.ready(1) + "nonsense\n" + Lines.ready(2)).utf8)
    let loop = try TestLoop()
    let table = await TestConnection.table(on: loop)
    for cut in 0...bytes.count {
      let connection = try await TestConnection(ScriptedResponder(), table: table, on: loop, number: UInt64(cut))
      try await connection.send(Array(bytes[..<cut]))
      try await connection.send(Array(bytes[cut...]))
      let lines = connection.lines
      #expect(lines.count == 3 && lines[0] == "ready" && lines[2] == "ready", "cut at \(cut)")
    }
  }
}
