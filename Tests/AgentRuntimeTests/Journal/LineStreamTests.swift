import Glibc
import Testing

@testable import AgentRuntime

@Suite("Log lines")
struct LineStreamTests {
  private let reading: Int32
  private let writing: Int32
  private let stream: LineStream

  init() throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    (reading, writing) = (ends[0], ends[1])
    stream = LineStream(descriptor: writing)
  }

  private func read() -> String {
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = Glibc.read(reading, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }

  /// Everything it is written stands there, so nothing has to be waited for.
  private func close() {
    Glibc.close(reading)
    Glibc.close(writing)
  }

  @Test("A line that nobody takes is lost, and holds nobody up; the next one that is taken tells how many were")
  func full() async {
    defer { close() }
    let line = String(repeating: "x", count: 999) + "\n"
    let count = 200
    // A write that waits would wait for ever here.
    let stream = stream
    let written = await onOwnThread {
      for _ in 0..<count { stream.write(line) }
      return count
    }
    #expect(written == count)
    let taken = read().utf8.count / line.utf8.count
    #expect((1..<count).contains(taken))
    stream.write("after\n")
    #expect(read() == "\(count - taken) lines were lost: nobody took them\nafter\n")
  }

  @Test("A line is no longer than what a pipe takes at once, and ends as one")
  func long() {
    defer { close() }
    stream.write(String(repeating: "x", count: 10_000) + "\n")
    stream.write("next\n")
    let lines = read().split(separator: "\n")
    #expect(lines.map(\.utf8.count) == [LineStream.greatestLine - 1, 4])
  }

  @Test("A reader that is gone loses lines, and nothing else")
  func gone() async {
    Glibc.close(reading)
    defer { Glibc.close(writing) }
    // Off the threads that die of SIGPIPE.
    let stream = stream
    let isWritten = await onOwnThread {
      stream.write("x\n")
      return true
    }
    #expect(isWritten == true)
  }
}
