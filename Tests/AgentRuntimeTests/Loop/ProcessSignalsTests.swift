import Glibc
import Synchronization
import Testing

@testable import AgentRuntime

@Suite("The process's signals")
struct ProcessSignalsTests {
  @Test("What comes before anybody listens is kept; hangups are told one after the other, and the end ends it")
  func signals() async throws {
    // Of the signals that have names, the command line's tests in this process take some for themselves, and put their
    // actions back.
    let (hangup, stop) = (__libc_current_sigrtmin(), __libc_current_sigrtmin() + 1)
    let signals = try ProcessSignals.trap(stops: [stop], hangup: hangup)
    kill(getpid(), hangup)
    let loop = try ServingLoop.start()
    let counts = Mutex((calls: 0, running: 0))
    let (told, tell) = AsyncStream<Void>.makeStream()
    let end = Task {
      await signals.untilEnd(on: loop) {
        let call = counts.withLock { counts in
          counts.calls += 1
          counts.running += 1
          #expect(counts.running == 1, "never twice at a time")
          return counts.calls
        }
        if call == 1 { for _ in 0..<3 { kill(getpid(), hangup) } }
        // Long enough for those to come meanwhile; were they to come later, the test would hold all the same.
        try? await Task.sleep(for: .milliseconds(50))
        counts.withLock { $0.running -= 1 }
        tell.yield()
      }
    }
    var count = 0
    for await _ in told {
      count += 1
      if count == 2 { break }
    }
    kill(getpid(), stop)
    await end.value
    kill(getpid(), stop)
    #expect(counts.withLock { $0.calls } >= 2)
  }
}
