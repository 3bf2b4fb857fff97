import AgentRuntime
import AgentWire
import Synchronization
import Testing

@Suite("The vault's state while its disk hangs")
struct VaultStatusReaderTests {
  /// Answers at once, or, while it hangs, when it is told to.
  private final class Disk: Sendable {
    private struct State {
      var hangs = false
      var questions = 0
      var waiting: [CheckedContinuation<Void, Never>] = []
    }
    private let state = Mutex(State())

    var questions: Int { state.withLock { $0.questions } }
    func hang() { state.withLock { $0.hangs = true } }
    func goOn() {
      let waiting = state.withLock { state in
        state.hangs = false
        defer { state.waiting = [] }
        return state.waiting
      }
      for one in waiting { one.resume() }
    }

    func read() async -> VaultStatusAnswer {
      await withCheckedContinuation { continuation in
        let waits = state.withLock { state in
          state.questions += 1
          if state.hangs { state.waiting.append(continuation) }
          return state.hangs
        }
        if !waits { continuation.resume() }
      }
      return VaultStatusAnswer(state: .open, slots: [], path: "/vault")
    }
  }

  @Test("while the disk hangs, what was known before is told, and at most 64 questions wait in the vault")
  func hangs() async {
    let disk = Disk()
    let reader = VaultStatusReader(patience: .milliseconds(10)) { await disk.read() }
    #expect(await reader.status().reason == nil)
    disk.hang()
    let silent = await reader.status()
    #expect(silent.state == .open && silent.reason == "it is busy, or its disk does not answer: /vault")
    await withTaskGroup { group in
      for _ in 0..<100 { group.addTask { #expect(await reader.status().reason != nil) } }
    }
    #expect(disk.questions == 1 + 64)
    disk.goOn()
    while await reader.status().reason != nil { await Task.yield() }
  }

  @Test("before anything is known, the first answer is waited for")
  func first() async {
    let disk = Disk()
    disk.hang()
    let reader = VaultStatusReader(patience: .milliseconds(1)) { await disk.read() }
    async let answer = reader.status()
    while disk.questions == 0 { await Task.yield() }
    try? await Task.sleep(for: .milliseconds(20))
    disk.goOn()
    #expect(await answer.reason == nil)
  }
}
