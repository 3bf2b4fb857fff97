import Glibc
import Testing

@testable import oauthctl

@Suite("Programs that are started")
struct ProgramTests {
  @Test("A signal that this program ignores is not ignored by one that it starts")
  func signals() throws {
    let before = [(SIGPIPE, signal(SIGPIPE, SIG_IGN)), (SIGXFSZ, signal(SIGXFSZ, SIG_IGN))]
    defer { for (number, handler) in before { signal(number, handler) } }
    let output = try Program.output(of: ["grep", "^SigIgn:", "/proc/self/status"])
    let mask = try #require(UInt64(String(output.text.dropFirst("SigIgn:".count)).trimmed, radix: 16))
    #expect(output.status == 0)
    for (number, _) in before { #expect(mask & (1 << UInt64(number - 1)) == 0, "signal \(number)") }
  }

  @Test("What a program complains of is kept apart from what it prints, however much it is")
  func complaint() throws {
    let script = "echo one; echo no such thing >&2; seq 100000 >&2; echo two; exit 3"
    #expect(
      try Program.output(of: ["sh", "-c", script])
        == Program.Output(status: 3, text: "one\ntwo\n", complaint: "no such thing"))
  }
}
