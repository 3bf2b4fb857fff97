import Sealing

/// Where a token was refused (host and path), and then two new ones, one after the other: rights are missing there, and to
/// refresh for that place again helps nobody. Every other place goes on as before.
///
/// One new token that is refused proves nothing: it may have been revoked like the one before it.
package struct RefusingPlaces: Sendable {
  /// A token is new for so many seconds.
  package static let newSeconds = 60.0
  /// So many new tokens in turn are refused before it is the place.
  package static let newTokens = 2
  /// A place that refused them is remembered for so many seconds.
  package static let memorySeconds = 300.0
  /// Places that are kept; the one that was reported longest ago makes room.
  package static let most = 16

  private struct Entry {
    var fingerprint: Fingerprint
    /// Boot time of the last refusal that led to a new token.
    var at: Double
    /// New tokens that were refused since.
    var newTokens = 0
    /// Boot time until which nothing is refreshed for it.
    var until: Double?
  }

  /// By a digest of the place: a path may be long, and there is a table for each account.
  private var entries: [[UInt8]: Entry] = [:]

  package init() {}

  /// Notes at boot time `now` that `place` refused a token that is `age` seconds old.
  ///
  /// - Returns: the milliseconds for which nothing is refreshed for this place; nil: a new token may help.
  package mutating func refused(
    _ fingerprint: Fingerprint, age: Double, at place: String, now: Double
  ) -> Int? {
    let place = Array(Digest.sha256(Array(place.utf8)).prefix(16))
    if let entry = entries[place], (entry.until ?? entry.at + Self.memorySeconds) <= now { entries[place] = nil }
    var newTokens = 0
    if let before = entries[place] {
      if let until = before.until { return milliseconds(until - now) }
      if before.fingerprint == fingerprint { return nil }
      if age < Self.newSeconds, age <= now - before.at { newTokens = before.newTokens + 1 }
      if newTokens >= Self.newTokens {
        entries[place]?.until = now + Self.memorySeconds
        return milliseconds(Self.memorySeconds)
      }
    } else if entries.count >= Self.most, let oldest = entries.min(by: { $0.value.at < $1.value.at })?.key {
      entries[oldest] = nil
    }
    entries[place] = Entry(fingerprint: fingerprint, at: now, newTokens: newTokens)
    return nil
  }

  /// Forgets everything: a person has done something about it.
  package mutating func forget() { entries = [:] }

  private func milliseconds(_ seconds: Double) -> Int { Int((seconds * 1_000).rounded(.up)) }
}
