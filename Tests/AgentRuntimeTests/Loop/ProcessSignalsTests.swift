import Glibc
import Synchronization
import Testing

@testable import AgentRuntime

@Suite("The process's signals")
struct ProcessSignalsTests {
  @Test("What comes before anybody listens is kept; hangups are told one after the other, and the end ends it")
  func signals() async throws {
    // Nothing else in this process has these two.
    let signals = try ProcessSignals.trap(stops: [SIGUSR1], hangup: SIGUSR2)
    kill(getpid(), SIGUSR2)
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
        if call == 1 { for _ in 0..<3 { kill(getpid(), SIGUSR2) } }
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
    kill(getpid(), SIGUSR1)
    await end.value
    kill(getpid(), SIGUSR1)
    #expect(counts.withLock { $0.calls } >= 2)
  }
}
