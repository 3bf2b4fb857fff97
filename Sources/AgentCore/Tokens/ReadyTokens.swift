package import AgentWire
package import Sealing
import Synchronization

/// A token that may be handed out at once. A class: to lend it out counts one reference, not those of all its parts.
package final class ReadyToken: Sendable {
  package let accessToken: Secret
  /// Its answers, but for the token itself.
  package let frame: TokenAnswerFrame
  /// Boot time at which its life ends; nil: not known.
  package let endBootSeconds: Double?
  /// Seconds it must still be valid when a request names none.
  package let defaultMinimumValidity: Double

  package init(accessToken: Secret, frame: TokenAnswerFrame, endBootSeconds: Double?, defaultMinimumValidity: Double) {
    self.accessToken = accessToken
    self.frame = frame
    self.endBootSeconds = endBootSeconds
    self.defaultMinimumValidity = defaultMinimumValidity
  }

  /// Bytes that `write` wants.
  package var capacity: Int { frame.capacity(tokenCount: accessToken.count) }

  /// Writes the line that answers the request `id` at `now`, and returns its length.
  package func write(_ id: Int64, at now: Moment, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let remaining = endBootSeconds.map { $0 - now.bootSeconds }
    let times = TokenAnswerFrame.Times(
      expiresAt: remaining.map { Int(now.wallSeconds + $0) }, expiresInSeconds: remaining.map { max(0, Int($0)) })
    return frame.write(id, times, tokenCount: accessToken.count, into: buffer) { accessToken.write(to: $0) }
  }

  /// Whether it is valid for `seconds` more, or for its default.
  package func suffices(_ seconds: Int?, at bootSeconds: Double) -> Bool {
    guard let endBootSeconds else { return true }
    let remaining = endBootSeconds - bootSeconds
    return remaining > 0 && remaining >= (seconds.map(Double.init) ?? defaultMinimumValidity)
  }
}

/// The tokens that the event loop answers with, one per account: written by the credential service alone, before it
/// answers anybody, and read by the listener.
package final class ReadyTokens: Sendable {
  private struct Entry {
    var token: ReadyToken?
    /// Boot time of the last answer.
    var asked: Double?
  }

  private struct State {
    var entries: [String: Entry] = [:]
    var wall: WallWatch?
  }

  private let state = Mutex(State())

  package init() {}

  /// Sets or removes the token of `account`.
  package func set(_ token: ReadyToken?, for account: String) {
    state.withLock { state in
      if let token {
        state.entries[account, default: Entry()].token = token
      } else {
        state.entries[account]?.token = nil
      }
    }
  }

  /// Forgets every token.
  package func removeAll() {
    state.withLock { state in
      for index in state.entries.values.indices { state.entries.values[index].token = nil }
    }
  }

  /// Forgets `account` whole.
  package func remove(_ account: String) {
    state.withLock { $0.entries[account] = nil }
  }

  /// The token for `account` when it is valid long enough; notes that it was asked for. None while it is open what a
  /// wall clock that moved means for their lives.
  package func token(for account: String, minimumValiditySeconds: Int?, at now: Moment) -> ReadyToken? {
    state.withLock { state in
      guard let index = state.entries.index(forKey: account), let token = state.entries.values[index].token,
        token.suffices(minimumValiditySeconds, at: now.bootSeconds), state.wall?.hasMoved(at: now) != true
      else { return nil }
      state.entries.values[index].asked = now.bootSeconds
      return token
    }
  }

  /// Whether the wall clock moved since the last `trustWall`.
  package func hasWallMoved(at now: Moment) -> Bool { state.withLock { $0.wall?.hasMoved(at: now) ?? false } }

  /// The entries are right by the clocks as they are now.
  package func trustWall(at now: Moment) { state.withLock { $0.wall = WallWatch(at: now) } }

  /// Boot time of the last answer for `account`.
  package func asked(_ account: String) -> Double? { state.withLock { $0.entries[account]?.asked } }
}
