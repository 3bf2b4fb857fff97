import Glibc
import Testing

@testable import oauthctl

@Suite("Programs that are started")
struct ProgramTests {
  @Test("A signal that this program ignores is not ignored by one that it starts")
  func signals() throws {
    let before = [(SIGPIPE, signal(SIGPIPE, SIG_IGN)), (SIGXFSZ, signal(SIGXFSZ, SIG_IGN))]
    defer { for (number, handler) in before { signal(number, handler) } }
    let (status, text) = try Program.output(of: ["grep", "^SigIgn:", "/proc/self/status"])
    let mask = try #require(UInt64(String(text.dropFirst("SigIgn:".count)).trimmed, radix: 16))
    #expect(status == 0)
    for (number, _) in before { #expect(mask & (1 << UInt64(number - 1)) == 0, "signal \(number)") }
  }
}
