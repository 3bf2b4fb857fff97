import Dispatch
import Sealing
import Synchronization

/// Where Argon2id runs: a thread of its own, one hash at a time, four waiting at most. It blocks for up to seconds, and
/// nobody who wants a token may wait for somebody who types.
final class Stretcher: Sendable {
  /// One runs, four wait: each takes up to some seconds, and nobody waits behind more.
  static let maximumCount = 5

  private struct State {
    var count = 0
    var tries = FailedAttempts()
  }

  let queue = DispatchQueue(label: "oauthctl.stretch")
  private let state = Mutex(State())
  private let now: @Sendable () -> Double

  /// `now` gives boot seconds.
  init(now: @escaping @Sendable () -> Double) { self.now = now }

  /// Admits one who will prove a secret, or make one. Throws `tooManyUnlocks`, `tooManyTries`. Followed by `leave`.
  func enter() throws(VaultError) {
    let now = now()
    let refusal: VaultError? = state.withLock { state in
      let wait = state.tries.waitSeconds(at: now)
      guard wait == 0 else { return .tooManyTries(retryAfterMilliseconds: Int((wait * 1_000).rounded(.up))) }
      guard state.count < Stretcher.maximumCount else { return .tooManyUnlocks }
      state.count += 1
      return nil
    }
    if let refusal { throw refusal }
  }

  /// Those who have entered.
  var count: Int { state.withLock { $0.count } }

  func leave() { state.withLock { $0.count -= 1 } }

  /// A secret was proved, or was not the vault's.
  func tried(isRight: Bool) {
    let now = now()
    state.withLock { state in
      if isRight { state.tries.succeeded() } else { state.tries.failed(at: now) }
    }
  }

  /// Hashes on the thread of its own, after those who came before.
  func key(for secret: Secret, salt: [UInt8], cost: PasswordHash.Cost) async throws(SealingError) -> SealingKey {
    let result = await withCheckedContinuation { (done: CheckedContinuation<Result<SealingKey, SealingError>, Never>) in
      queue.async {
        done.resume(
          returning: Result { () throws(SealingError) in
            try PasswordHash.argon2id(secret, salt: salt, cost: cost)
          })
      }
    }
    return try result.get()
  }
}
