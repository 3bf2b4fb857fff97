import AgentWire
import Glibc
import Synchronization
import Testing

@testable import AgentRuntime

@Suite("The answers of a round")
struct AnswerBatchTests {
  /// What had arrived at all callers together whenever an answer was about to be made.
  private final class Arrivals: Sendable {
    private let state = Mutex((callers: [FarEnd](), seen: [Int]()))
    var seen: [Int] { state.withLock { $0.seen } }

    func watch(_ callers: [FarEnd]) { state.withLock { $0.callers = callers } }
    @Sendable func note() {
      state.withLock { state in state.seen.append(state.callers.map(\.unreadBytes).reduce(0, +)) }
    }
  }

  private let arrivals = Arrivals()
  private let responder: ScriptedResponder
  private let listener: HandTurnedListener
  private static let many = ConnectionTable.few + 1

  init() throws {
    responder = ScriptedResponder(onReady: arrivals.note)
    listener = try HandTurnedListener(responder)
  }

  private var block: UnsafeMutableRawBufferPointer { listener.table.roundAnswers.block }

  private func ask(_ callers: [FarEnd], _ text: String = Lines.ready(1)) {
    arrivals.watch(callers)
    for caller in callers { #expect(caller.send(text)) }
  }

  @Test("Those of many callers leave together when all have been read, and are wiped where they lay")
  func together() throws {
    let callers = try listener.connect(Self.many)
    ask(callers)
    let (queue, table) = (listener.queue, listener.table)
    var wereKept = false
    // Before that of the answers, which is asked for later in the turn.
    queue.atEndOfTurn { wereKept = table.roundAnswers.block.starts(with: "ready\nready\n".utf8) }
    listener.turn()
    #expect(wereKept)
    #expect(arrivals.seen == Array(repeating: 0, count: Self.many))
    for caller in callers { #expect(caller.text == "ready\n") }
    #expect(block.prefix(6 * Self.many).allSatisfy { $0 == 0 })
    #expect(listener.table.roundAnswers.isEmpty)
  }

  @Test("Where few ask, each is answered before the next is read")
  func few() throws {
    let callers = try listener.connect(Self.many - 1)
    ask(callers)
    listener.turn()
    #expect(arrivals.seen == (0..<callers.count).map { $0 * 6 })
    for caller in callers { #expect(caller.text == "ready\n") }
    #expect(block.prefix(6).allSatisfy { $0 == 0 })
  }

  @Test("What is answered in between goes in between")
  func mixed() throws {
    let callers = try listener.connect(Self.many)
    ask(callers, Lines.ready(1) + "nonsense\n" + Lines.ready(2))
    listener.turn()
    for caller in callers { #expect(caller.lines.map { $0.contains("error") } == [false, true, false]) }
  }

  @Test("More than the block holds leaves in parts, whole and in order")
  func parts() throws {
    let line = String(repeating: "0123456789", count: 1_000) + "\n"
    responder.setReady(line)
    let callers = try listener.connect(Self.many)
    ask(callers, Lines.ready(1) + Lines.ready(2))
    listener.turn()
    // Six fit.
    #expect(arrivals.seen == (0..<2 * Self.many).map { max(0, $0 - 1) / 6 * 6 * line.utf8.count })
    for caller in callers { #expect(caller.text == line + line) }
    #expect(block.prefix(60_000).allSatisfy { $0 == 0 })
  }

  @Test("An answer that could be longer than the block goes by itself")
  func long() throws {
    let line = String(repeating: "x", count: AnswerBatch.blockBytes) + "\n"
    responder.setReady(line)
    let callers = try listener.connect(Self.many)
    ask(callers)
    listener.turn()
    for caller in callers { #expect(caller.text == line) }
  }

  @Test("A caller that does not read gets the rest later, in order, and holds up nobody")
  func untaken() throws {
    responder.setReady(String(repeating: "x", count: 3_000) + "\n")
    let slow = try listener.connect(isNarrow: true)
    let others = try listener.connect(Self.many)
    ask([slow] + others, (1...5).map(Lines.ready).joined())
    listener.turn()
    for other in others { #expect(other.lines.count == 5) }
    #expect((1..<15_000).contains(slow.unreadBytes))
    let expected = String(repeating: String(repeating: "x", count: 3_000) + "\n", count: 5)
    // A turn for each time that it makes room.
    for _ in 0..<20 where slow.text.utf8.count < expected.utf8.count { listener.turn() }
    #expect(slow.text == expected)
    // From here on it takes answers again.
    ask([slow] + others)
    listener.turn()
    for other in others { #expect(other.lines.count == 6) }
    for _ in 0..<4 where slow.lines.count < 6 { listener.turn() }
    #expect(slow.lines.count == 6)
  }

  @Test("So does one whose answers leave at once: it gets the rest of one that it did not take, then the next")
  func untakenOfOne() throws {
    let slow = try listener.connect(isNarrow: true)
    // It is quiet from its first answer on.
    ask([slow])
    listener.turn()
    #expect(slow.text == "ready\n")
    let line = String(repeating: "0123456789", count: 1_500) + "\n"
    responder.setReady(line)
    for number in 1...3 {
      ask([slow], Lines.ready(number))
      listener.turn()
      #expect((1..<line.utf8.count).contains(slow.unreadBytes))
      #expect(block.prefix(line.utf8.count).allSatisfy { $0 == 0 })
      let expected = "ready\n" + String(repeating: line, count: number)
      for _ in 0..<20 where slow.text.utf8.count < expected.utf8.count { listener.turn() }
      #expect(slow.text == expected)
    }
  }

  @Test("Who ends its sending together with its request is answered, then its connection closed", arguments: [1, many])
  func ended(_ count: Int) throws {
    let callers = try listener.connect(count)
    for text in ["", "{", Lines.ready(1), Lines.ready(1) + Lines.ready(2), Lines.ready(1) + "{"] {
      let caller = try listener.connect()
      ask(callers + [caller], Lines.ready(0))
      listener.turn()
      caller.send(text)
      caller.endSending()
      for _ in 1...2 { listener.turn() }
      #expect(caller.lines.count == text.count { $0 == "\n" } + 1 && caller.wasClosed, "\(text)")
      let leaver = try listener.connect()
      leaver.send(text)
      leaver.leave()
      for _ in 1...2 { listener.turn() }
      #expect(listener.table.count == count)
    }
  }

  @Test("What one read does not take is read in the next turn, though nothing more comes", arguments: 1...4)
  func manyReads(_ lines: Int) throws {
    let caller = try listener.connect()
    let line = String(repeating: "x", count: 40_000) + "\n"
    #expect(caller.send(String(repeating: line, count: lines) + Lines.ready(1)))
    for _ in 0...lines * line.utf8.count / WireLimits.ownBytes { listener.turn() }
    #expect(caller.lines.count == lines + 1 && caller.lines.last == "ready")
  }

  @Test("So is what lies behind a message with a descriptor, which ends a read early")
  func passedDescriptors() throws {
    let caller = try listener.connect()
    for number in 1...3 { #expect(caller.send(Lines.ready(number), passing: STDIN_FILENO)) }
    for _ in 1...3 { listener.turn() }
    #expect(caller.lines == ["ready", "ready", "ready"])
  }

  @Test("A caller that cannot be answered any more is dropped, and no other", arguments: [1, Self.many])
  func gone(_ count: Int) throws {
    let callers = try listener.connect(count)
    gone(callers)
  }

  @Test("Nor one that was answered before", arguments: [1, Self.many])
  func goneLater(_ count: Int) throws {
    let callers = try listener.connect(count)
    ask(callers)
    listener.turn()
    for caller in callers { #expect(caller.lines == ["ready"]) }
    gone(callers)
  }

  private func gone(_ callers: [FarEnd]) {
    let before = callers[0].lines.count
    ask(callers)
    callers[0].stopReading()
    listener.turn()
    #expect(listener.table.count == callers.count - 1)
    for caller in callers.dropFirst() { #expect(caller.lines.count == before + 1) }
  }

  @Test("A caller that makes room while others are answered is answered on the way, or at its own end")
  func goesOnWithinRound() throws {
    // More than may be in flight, so that some wait in the framer while the round is sent.
    let callers = try listener.connect(Self.many)
    ask(callers, (1...100).map(Lines.ready).joined())
    listener.turn()
    for caller in callers { #expect(caller.lines.count == 100) }
    #expect(listener.table.roundAnswers.isEmpty)
  }
}
