import Synchronization
import Testing

@testable import AgentRuntime

@Suite("One reading for all who wait")
struct SharedReadingTests {
  /// Readings that end when a test says so; each is answered with its number.
  private final class Readings: Sendable {
    private struct State {
      var begun = 0
      var isWanted: (@Sendable () -> Bool)?
      var open: CheckedContinuation<Void, Never>?
    }

    let shared = SharedReading<Int>()
    private let state = Mutex(State())
    var begun: Int { state.withLock { $0.begun } }
    var isWanted: Bool { state.withLock { $0.isWanted }?() ?? false }

    func ask() -> Task<Int?, Never> {
      Task {
        await self.shared.answer { isWanted in
          let number = self.state.withLock { state in
            state.begun += 1
            state.isWanted = isWanted
            return state.begun
          }
          await withCheckedContinuation { open in self.state.withLock { $0.open = open } }
          return number
        }
      }
    }

    /// Ends the reading that is under way, once there is one.
    func end() async {
      await until { self.state.withLock { $0.open != nil } }
      let open = state.withLock { state in
        defer { state.open = nil }
        return state.open
      }
      open?.resume()
    }

    func until(_ holds: () -> Bool) async { while !holds() { await Task.yield() } }
  }

  @Test("Whoever comes while one is under way is answered by the next, all of them by one")
  func shared() async {
    let readings = Readings()
    let first = readings.ask()
    await readings.until { readings.begun == 1 }
    let others = (0..<20).map { _ in readings.ask() }
    while readings.shared.waitingCount < 20 { await Task.yield() }
    await readings.end()
    #expect(await first.value == 1)
    await readings.end()
    for other in others { #expect(await other.value == 2) }
    #expect(readings.begun == 2)
  }

  @Test("A reading for which nobody waits any more is told so, and the next of those who left is not begun")
  func left() async {
    let readings = Readings()
    let first = readings.ask()
    await readings.until { readings.begun == 1 }
    #expect(readings.isWanted)
    let next = readings.ask()
    while readings.shared.waitingCount < 1 { await Task.yield() }
    first.cancel()
    next.cancel()
    #expect(await first.value == nil)
    #expect(await next.value == nil)
    #expect(!readings.isWanted)
    await readings.end()
    let last = readings.ask()
    await readings.end()
    #expect(await last.value == 2)
  }

  @Test("A caller who has left already begins none")
  func cancelled() async {
    let readings = Readings()
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return await readings.shared.answer { _ in 1 }
    }
    task.cancel()
    #expect(await task.value == nil)
    #expect(readings.begun == 0 && readings.shared.waitingCount == 0)
  }
}
