package import HTTPTerms
import Synchronization

/// The nonces that servers gave last for proofs by a key (RFC 9449 §8). They are kept in memory alone: without one, the next
/// request takes two.
package final class ServerNonces: Sendable {
  private struct Place: Hashable {
    let origin: Origin
    /// The key's thumbprint: some servers bind a nonce to the client that got it.
    let key: String
  }

  private struct State {
    var nonces: [Place: (nonce: String, number: UInt64)] = [:]
    var last: UInt64 = 0
  }

  /// How many are kept, the latest ones: 1 MiB at most with nonces of the greatest length.
  package static let most = 1_024

  private let state = Mutex(State())

  package init() {}

  package func nonce(for origin: Origin, key: String) -> String? {
    state.withLock { $0.nonces[Place(origin: origin, key: key)]?.nonce }
  }

  /// `nonce` is as ``DPoPNonce`` wants it.
  package func set(_ nonce: String, for origin: Origin, key: String) {
    state.withLock { state in
      state.last += 1
      state.nonces[Place(origin: origin, key: key)] = (nonce, state.last)
      guard state.nonces.count > Self.most, let oldest = state.nonces.min(by: { $0.value.number < $1.value.number })
      else { return }
      state.nonces[oldest.key] = nil
    }
  }

  package var count: Int { state.withLock { $0.nonces.count } }
}
