package import AgentWire

/// Tells how the vault is, also while it is busy for long: then with what was known before.
///
/// The vault does one thing after the other, so a question waits behind a write that a hanging disk keeps.
package actor VaultStatusReader {
  private let patience: Duration
  private let read: @Sendable () async -> VaultStatusAnswer
  private var last: VaultStatusAnswer?
  private var waiting: [UInt64: CheckedContinuation<VaultStatusAnswer, Never>] = [:]
  private var lastNumber: UInt64 = 0
  /// Questions that the vault has not answered yet, whether or not somebody still waits.
  private var unanswered = 0
  /// Somebody's patience has ended since the vault answered last.
  private var isLate = false
  private var isWatching = false
  /// Many more than ask at once; each is a task as long as the vault is busy.
  private static let mostUnanswered = 64

  /// Waits up to twice `patience` for what `read` answers.
  package init(patience: Duration = .seconds(2), _ read: @escaping @Sendable () async -> VaultStatusAnswer) {
    self.patience = patience
    self.read = read
  }

  package func status() async -> VaultStatusAnswer {
    if isLate, unanswered >= Self.mostUnanswered, let last { return Self.busy(last) }
    unanswered += 1
    lastNumber += 1
    let number = lastNumber
    return await withCheckedContinuation { continuation in
      waiting[number] = continuation
      Task { self.answered(number, await self.read()) }
      watch()
    }
  }

  private func answered(_ number: UInt64, _ answer: VaultStatusAnswer) {
    last = answer
    unanswered -= 1
    isLate = false
    waiting.removeValue(forKey: number)?.resume(returning: answer)
  }

  /// One sleep for all who wait.
  private func watch() {
    guard !isWatching else { return }
    isWatching = true
    let asked = lastNumber
    Task {
      try? await Task.sleep(for: self.patience)
      self.endPatience(asked)
    }
  }

  /// Whoever asked up to `number` is told what is known; before there is anything known, it waits on.
  private func endPatience(_ number: UInt64) {
    isWatching = false
    if let last {
      for (asked, continuation) in waiting where asked <= number {
        waiting[asked] = nil
        isLate = true
        continuation.resume(returning: Self.busy(last))
      }
    }
    if !waiting.isEmpty { watch() }
  }

  private static func busy(_ last: VaultStatusAnswer) -> VaultStatusAnswer {
    var answer = last
    answer.reason = "it is busy, or its disk does not answer: \(last.path)"
    answer.hint = "look whether its disk or its network drive is away (dmesg); it goes on by itself when that answers"
    answer.hintKind = nil
    return answer
  }
}
