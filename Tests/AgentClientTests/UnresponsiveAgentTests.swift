import AgentWire
import Glibc
import Testing

@testable import AgentClient

@Suite("An agent that does not answer")
struct UnresponsiveAgentTests {
  @Test(
    "Whether it is stopped stands in /proc, whatever its name holds",
    arguments: [
      ("12 (oauthd) T 1 12", "T"), ("12 (oauthd) t 1", "t"), ("12 (oauthd) S 1", "S"), ("12 (systemd) T 1", nil),
      ("12 (oauthd) T) T 1", nil), ("12 (oauthd)", nil), ("12 oauthd T", nil), ("", nil), (")(", nil),
    ] as [(String, Character?)])
  func state(stat: String, state: Character?) {
    #expect(UnresponsiveAgent.state(inStat: Array(stat.utf8)).map { Character(Unicode.Scalar($0)) } == state)
  }

  @Test("What it has read is told from what it has not")
  func unread() throws {
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    let (mine, theirs) = (Descriptor(ends[0]), Descriptor(ends[1]))
    #expect(UnresponsiveAgent(behind: mine).hasRead)
    #expect(write(mine.number, "x", 1) == 1)
    let before = UnresponsiveAgent(behind: mine)
    #expect(!before.hasRead && !before.isStopped && before.process == nil, "this process is no oauthd")
    var byte: UInt8 = 0
    #expect(read(theirs.number, &byte, 1) == 1)
    #expect(UnresponsiveAgent(behind: mine).hasRead)
  }

  @Test("Nothing is told of an agent that waits for a server; else who it is, and what helps")
  func remarks() {
    let reading = UnresponsiveAgent(process: 7, isStopped: false, hasRead: true)
    #expect(reading.remark(isDue: false) == nil)
    #expect(reading.remark(isDue: true)?.hasPrefix("the agent (pid 7) has not answered yet") == true)
    let stopped = UnresponsiveAgent(process: 7, isStopped: true, hasRead: true)
    #expect(
      stopped.remark(isDue: false)?.hasPrefix("the agent (pid 7) is stopped") == true
        && stopped.remedy == .run("kill -CONT 7"))
    let hanging = UnresponsiveAgent(process: nil, isStopped: false, hasRead: false)
    #expect(hanging.remark(isDue: false)?.hasPrefix("the agent has not taken the request") == true)
    #expect(hanging.remedy == .run("oauthctl doctor"))
  }

  @Test("A wait may end before the deadline, and the deadline before the wait")
  func waits() throws {
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    let (mine, theirs) = (Descriptor(ends[0]), Descriptor(ends[1]))
    #expect(try !Deadline(milliseconds: 600_000).wait(for: mine, POLLIN, atMost: 1))
    #expect(throws: ClientError.timeout(milliseconds: 1)) {
      try Deadline(milliseconds: 1).wait(for: mine, POLLIN, atMost: 600_000)
    }
    #expect(write(theirs.number, "x", 1) == 1)
    #expect(try Deadline(milliseconds: 600_000).wait(for: mine, POLLIN, atMost: 600_000))
  }
}
