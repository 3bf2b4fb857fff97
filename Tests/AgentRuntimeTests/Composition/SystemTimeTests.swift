import AgentCore
import Testing

@testable import AgentRuntime

@Suite("The machine's time")
struct SystemTimeTests {
  private func time() async throws -> SystemTime { try await SystemTime.start(on: ServingLoop.start()) }

  @Test("A sleep lasts as long as was asked for, and leaves nothing behind", arguments: [-1, 0, 0.02])
  func ends(_ seconds: Double) async throws {
    let time = try await time()
    let start = time.now()
    try await time.sleep(seconds: seconds)
    #expect(time.now().bootSeconds - start.bootSeconds >= seconds)
    #expect(await time.sleeperCount() == 0)
  }

  @Test("A cancelled sleep ends at once, and leaves nothing behind")
  func cancelled() async throws {
    let time = try await time()
    let sleepers = (0..<20).map { _ in Task { try await time.sleep(seconds: 80_000) } }
    while await time.sleeperCount() < 20 { await Task.yield() }
    for sleeper in sleepers { sleeper.cancel() }
    for sleeper in sleepers { await #expect(throws: CancellationError.self) { try await sleeper.value } }
    #expect(await time.sleeperCount() == 0)
  }

  @Test("Who is cancelled before falls asleep no more", arguments: [0, 80_000])
  func cancelledBefore(_ seconds: Double) async throws {
    let time = try await time()
    let sleeper = Task {
      while !Task.isCancelled { await Task.yield() }
      try await time.sleep(seconds: seconds)
    }
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
    #expect(await time.sleeperCount() == 0)
  }
}
