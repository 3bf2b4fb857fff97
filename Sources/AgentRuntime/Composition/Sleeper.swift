import Synchronization

/// One sleep: it ends once, by its time or by whoever cancels it.
final class Sleeper: Sendable {
  private enum State {
    case new
    case asleep(CheckedContinuation<Void, any Error>)
    case over
  }

  private let state = Mutex(State.new)

  /// Its own as long as it lives.
  var id: UInt64 { UInt64(UInt(bitPattern: ObjectIdentifier(self))) }

  var isOver: Bool { state.withLock { if case .over = $0 { true } else { false } } }

  /// False, and it is over, when it was cancelled before.
  func begin(_ continuation: CheckedContinuation<Void, any Error>) -> Bool {
    let isOver = state.withLock { state in
      if case .over = state { return true }
      state = .asleep(continuation)
      return false
    }
    if isOver { continuation.resume(throwing: CancellationError()) }
    return !isOver
  }

  func end(_ result: Result<Void, any Error>) {
    let ended = state.withLock { state in
      defer { state = .over }
      return state
    }
    if case .asleep(let continuation) = ended { continuation.resume(with: result) }
  }
}
