import Testing

@testable import AgentRuntime

@Suite("Waiting for what may hang", .timeLimit(.minutes(10)))
struct SleeperTests {
  @Test("What ends is waited for, however long that may take")
  func ends() async {
    await confirmation { ended in
      await Sleeper.sleep(atMost: .seconds(100_000)) { ended() }
    }
  }

  @Test("What hangs is not")
  func hangs() async {
    let (never, continuation) = AsyncStream<Never>.makeStream()
    await Sleeper.sleep(atMost: .milliseconds(1)) { for await _ in never {} }
    continuation.finish()
  }
}
