import AgentWire
import NIOCore
import NIOEmbedded
import Testing

@testable import AgentRuntime

@Suite("Connections")
struct ConnectionTests {
  @Test("A ready token is answered on the loop, without asking the responder's slow side")
  func hotPath() async throws {
    let responder = ScriptedResponder()
    let connection = try await TestConnection.make(responder)
    try await connection.send(Lines.ready(1))
    #expect(connection.recorder.lines == ["ready"])
    #expect(responder.asked.isEmpty)
  }

  @Test("Answers of one round of the loop leave together, when all that was asked in it has been read")
  func oneRound() async throws {
    let loop = NIOAsyncTestingEventLoop()
    let table = try await TestConnection.table(on: loop)
    let responder = ScriptedResponder()
    let first = try await TestConnection(responder, table: table, loop: loop, number: 1)
    let second = try await TestConnection(responder, table: table, loop: loop, number: 2)
    for connection in [first, second] {
      try await connection.arrive(Array(Lines.ready(1).utf8))
      #expect(connection.recorder.lines == ["ready"])
    }
    // Wiped is what was taken: nothing is, before the round ends.
    #expect(!first.recorder.areAnswersWiped && !second.recorder.areAnswersWiped)
    await loop.run()
    #expect(first.recorder.areAnswersWiped && second.recorder.areAnswersWiped)
  }

  @Test("Answers come in the order they are ready")
  func anyOrder() async throws {
    let responder = ScriptedResponder()
    let connection = try await TestConnection.make(responder)
    try await connection.send(Lines.slow(1) + Lines.slow(2) + Lines.ready(3))
    await responder.waitForWaiting(2)
    responder.release(.number(2))
    #expect(await connection.recorder.waitForLines(2) == ["ready", "2"])
    responder.release(.number(1))
    #expect(await connection.recorder.waitForLines(3) == ["ready", "2", "1"])
  }

  @Test("An answer is wiped once it is taken, and only then")
  func wiped() async throws {
    let connection = try await TestConnection.make(ScriptedResponder())
    connection.recorder.setTakes(false)
    try await connection.send(Lines.ready(1))
    #expect(!connection.recorder.areAnswersWiped)
    let recorder = connection.recorder
    try await connection.onLoop { recorder.take() }
    #expect(connection.recorder.areAnswersWiped)
  }

  @Test("An answer that is never taken is wiped when the connection ends")
  func wipedOnFailure() async throws {
    let connection = try await TestConnection.make(ScriptedResponder())
    connection.recorder.setTakes(false)
    try await connection.send(Lines.ready(1))
    try await connection.channel.close().get()
    #expect(connection.recorder.areAnswersWiped)
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
    let lines = connection.recorder.lines
    #expect(lines.count == 2)
    #expect(lines.first?.hasPrefix(#"{"jsonrpc":"2.0","id":null,"error""#) == true)
    #expect(lines.last == "ready")
    #expect(connection.isOpen)
    #expect(responder.asked.isEmpty)
  }

  @Test("Bytes that are no UTF-8 are refused, and the connection goes on")
  func notUTF8() async throws {
    let connection = try await TestConnection.make(ScriptedResponder())
    try await connection.send([0x22, 0xFF, 0xFE, 0x22, 0x0A] + Array(Lines.ready(1).utf8))
    #expect(connection.recorder.lines.last == "ready")
    #expect(connection.recorder.lines.count == 2)
  }

  @Test("A line that is too long is refused, and the connection ends", arguments: [false, true])
  func tooLong(_ withLineFeed: Bool) async throws {
    let connection = try await TestConnection.make(ScriptedResponder())
    let line = [UInt8](repeating: UInt8(ascii: "x"), count: WireLimits.requestBytes)
    try await connection.send(line + (withLineFeed ? [0x0A] : []) + Array(Lines.ready(1).utf8))
    #expect(connection.recorder.lines.count == 1)
    #expect(connection.recorder.text.contains("longer than 65536 bytes"))
    #expect(!connection.isOpen)
  }

  @Test(
    "HTTP gets one error line, and the connection ends",
    arguments: ["GET / HTTP/1.1\r\nHost: x\r\n\r\n", "POST /token HTTP/1.0\r\n\r\n{}\n", "GET http://x/ HTTP/1.1\n"])
  func http(_ request: String) async throws {
    let connection = try await TestConnection.make(ScriptedResponder())
    try await connection.send(request)
    #expect(connection.recorder.lines.count == 1)
    #expect(connection.recorder.text.contains("no HTTP server"))
    #expect(!connection.isOpen)
  }

  @Test("An id that is in use is refused without the id, on the fast path too; it is free after the answer")
  func idInUse() async throws {
    let responder = ScriptedResponder()
    let connection = try await TestConnection.make(responder)
    try await connection.send(Lines.slow(7))
    await responder.waitForWaiting(1)
    try await connection.send(Lines.slow(7) + Lines.ready(7))
    #expect(connection.recorder.lines.count == 2)
    #expect(connection.recorder.lines.allSatisfy { $0.contains(#""id":null"#) && $0.contains("in use") })
    responder.release()
    _ = await connection.recorder.waitForLines(3)
    try await connection.send(Lines.ready(7))
    #expect(await connection.recorder.waitForLines(4).suffix(2) == ["7", "ready"])
    #expect(responder.asked.count == 1)
  }

  @Test("At most 64 requests are in flight: the rest waits unread, and goes on when answers are taken")
  func inFlightLimit() async throws {
    let responder = ScriptedResponder()
    let connection = try await TestConnection.make(responder)
    let all = (0..<200).map(Lines.slow).joined()
    try await connection.send(all)
    await responder.waitForWaiting(64)
    let before = connection.recorder.reads
    connection.channel.read()
    try await connection.onLoop {}
    #expect(connection.recorder.reads == before)
    #expect(responder.asked.count == 64)
    for released in 1...4 {
      responder.release()
      _ = await connection.recorder.waitForLines(min(released * 64, 200))
      await responder.waitForWaiting(min(64, 200 - min(released * 64, 200)))
    }
    #expect(Set(connection.recorder.lines) == Set((0..<200).map(String.init)))
    try await connection.onLoop {}
    #expect(connection.recorder.reads > before)
  }

  @Test("Answers that are not taken count: a caller that never reads gets no more than 64 made")
  func untakenAnswers() async throws {
    let connection = try await TestConnection.make(ScriptedResponder())
    connection.recorder.setTakes(false)
    try await connection.send((0..<1_000).map(Lines.ready).joined())
    #expect(connection.recorder.lines.count == 64)
    connection.recorder.setTakes(true)
    let recorder = connection.recorder
    try await connection.onLoop { recorder.take() }
    #expect(await connection.recorder.waitForLines(1_000).count == 1_000)
  }

  @Test("After a half-close the answers still come, then the connection ends")
  func halfClose() async throws {
    let responder = ScriptedResponder()
    let connection = try await TestConnection.make(responder)
    try await connection.send(Lines.slow(1) + Lines.ready(2) + "{\"unfinished")
    await responder.waitForWaiting(1)
    try await connection.endInput()
    #expect(connection.isOpen)
    responder.release()
    #expect(await connection.recorder.waitForLines(2) == ["ready", "1"])
    try await connection.channel.closeFuture.get()
  }

  @Test("A half-close with nothing owed ends the connection at once")
  func halfCloseIdle() async throws {
    let connection = try await TestConnection.make(ScriptedResponder())
    try await connection.send(Lines.ready(2))
    try await connection.endInput()
    #expect(!connection.isOpen)
  }

  @Test("A caller that leaves cancels nothing")
  func leaving() async throws {
    let responder = ScriptedResponder()
    let connection = try await TestConnection.make(responder)
    try await connection.send(Lines.slow(1))
    await responder.waitForWaiting(1)
    try await connection.channel.close().get()
    responder.release()
    try await connection.onLoop {}
    #expect(connection.recorder.lines.isEmpty)
    #expect(responder.asked == [.number(1)])
  }

  @Test("Any split of a request into two reads gives the same answer")
  func splitRequests() async throws {
    let bytes = Array((Lines.ready(1) + "nonsense\n" + Lines.ready(2)).utf8)
    for cut in 0...bytes.count {
      let connection = try await TestConnection.make(ScriptedResponder())
      try await connection.send(Array(bytes[..<cut]))
      try await connection.send(Array(bytes[cut...]))
      let lines = connection.recorder.lines
      #expect(lines.count == 3 && lines[0] == "ready" && lines[2] == "ready", "cut at \(cut)")
    }
  }
}
