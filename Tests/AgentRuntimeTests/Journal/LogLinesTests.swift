import Glibc
import Synchronization
import Testing

@testable import AgentRuntime

@Suite("Log lines")
struct LogLinesTests {
  private let line = String(repeating: "x", count: 999) + "\n"

  @Test("A pipe that nobody reads holds nobody up; a reader finds what the queue holds, and how many lines it did not")
  func full() async throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    let (reading, writing) = (ends[0], ends[1])
    let lines = LogLines(DescriptorSink(descriptor: writing))
    let count = 1_000
    for _ in 0..<count { lines.write(line) }

    let held = await Self.read(reading, until: { _ in lines.isIdle })
    lines.write("after\n")
    let text = held + (await Self.read(reading, until: { $0.hasSuffix("after\n") }))
    let taken = text.split(separator: "\n").count { $0 + "\n" == line }
    let lost = text.matches(of: #/warning: (\d+) lines? (?:was|were) lost here\n/#).compactMap { Int($0.1) }
    #expect(text.hasSuffix("after\n") && !lost.isEmpty && taken > 0)
    #expect(taken + lost.reduce(0, +) == count)
    close(reading)
    close(writing)
  }

  @Test("A line is no longer than what a pipe takes at once, and ends as one")
  func long() async {
    let sink = ScriptedSink()
    let lines = LogLines(sink)
    lines.write(String(repeating: "x", count: 10_000) + "\n")
    lines.write("next\n")
    await lines.finish(within: .seconds(60))
    #expect(sink.text.split(separator: "\n").map(\.utf8.count) == [LogLines.greatestLine - 1, 4])
  }

  @Test("A reader that is gone loses lines, and nothing else")
  func gone() async throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    close(ends[0])
    let lines = LogLines(DescriptorSink(descriptor: ends[1]))
    lines.write("x\n")
    await lines.finish(within: .seconds(60))
    #expect(lines.problem == "Broken pipe")
    // Asking has it tried again: the number of this pipe's end may be another test's as soon as it is closed.
    await lines.finish(within: .seconds(60))
    close(ends[1])
  }

  @Test("What a full disk did not take is counted once, and told when there is room; until then there is a problem")
  func noRoom() async {
    let sink = ScriptedSink()
    let lines = LogLines(sink)
    func log(_ text: String) async {
      lines.write(text + "\n")
      await lines.finish(within: .seconds(60))
    }
    await log("first")
    #expect(lines.problem == nil)
    sink.room = 4
    await log("second")
    await log("third")
    await log("fourth")
    #expect(sink.text == "first\nseco" && lines.problem == "no room")
    await lines.finish(within: .seconds(60))
    sink.room = nil
    // Asking alone has it tried again.
    #expect(lines.problem == "no room")
    await lines.finish(within: .seconds(60))
    #expect(lines.problem == nil)
    await log("fifth")
    #expect(sink.text.hasPrefix("first\nseco") && sink.text.hasSuffix(" warning: 3 lines were lost here\nfifth\n"))
  }

  @Test("The end of the process waits for the last lines, and for no sink that hangs")
  func end() async {
    let sink = ScriptedSink()
    sink.hangs = true
    let lines = LogLines(sink)
    lines.write("last\n")
    await lines.finish(within: .milliseconds(20))
    #expect(sink.text.isEmpty && !lines.isIdle)
    sink.hangs = false
    await lines.finish(within: .seconds(60))
    #expect(sink.text == "last\n")
  }

  /// Reads on a thread of its own, until what was read and what is there satisfies `isEnough`.
  private static func read(_ descriptor: Int32, until isEnough: @escaping @Sendable (String) -> Bool) async -> String {
    await onOwnThread {
      var bytes: [UInt8] = []
      while true {
        let text = String(decoding: bytes, as: UTF8.self)
        // Before the look: what comes after it is read in the next round.
        let isEnough = isEnough(text)
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        if poll(&request, 1, 10) == 1 {
          var chunk = [UInt8](repeating: 0, count: 1 << 16)
          let count = Glibc.read(descriptor, &chunk, chunk.count)
          bytes += chunk.prefix(max(0, count))
        } else if isEnough {
          return text
        }
      }
    } ?? ""
  }
}

/// Takes what it is told to take. It is called on the log's own thread, which may wait.
private final class ScriptedSink: LogSink {
  private struct State {
    var bytes: [UInt8] = []
    var room: Int?
    var hangs = false
  }

  private let state = Mutex(State())

  var text: String { state.withLock { String(decoding: $0.bytes, as: UTF8.self) } }

  /// Bytes that it still takes; nil: all.
  var room: Int? {
    get { state.withLock { $0.room } }
    set { state.withLock { $0.room = newValue } }
  }

  var hangs: Bool {
    get { state.withLock { $0.hangs } }
    set { state.withLock { $0.hangs = newValue } }
  }

  func write(_ bytes: [UInt8]) -> (count: Int, problem: String?) {
    while hangs { usleep(1_000) }
    return state.withLock { state in
      let count = min(bytes.count, state.room ?? bytes.count)
      state.bytes += bytes.prefix(count)
      state.room = state.room.map { $0 - count }
      return (count, count < bytes.count ? "no room" : nil)
    }
  }
}
