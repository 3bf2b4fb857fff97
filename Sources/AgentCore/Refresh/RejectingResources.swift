import Sealing

/// Protected resources (host and path) that rejected a token, and then two new ones in turn: the token lacks a right there,
/// and another refresh helps nobody. Every other resource goes on as before.
///
/// One new token that is rejected proves nothing: it may have been revoked like the one before it.
package struct RejectingResources: Sendable {
  /// A token is new for so many seconds: who retries a request with a new token does so at once.
  package static let newSeconds = 60.0
  /// So many new tokens in turn are rejected before it is the resource: one may have been revoked.
  package static let newTokens = 2
  /// A resource that rejected them is remembered for so many seconds: a person who gives it the right waits no longer.
  package static let memorySeconds = 300.0
  /// Resources that are kept, more than one program asks at once; the one that was reported longest ago makes room.
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

  /// By a digest of the resource: a path may be long, and there is a table for each account.
  private var entries: [[UInt8]: Entry] = [:]

  package init() {}

  /// Notes at boot time `now` that the resource `place` rejected a token that is `age` seconds old.
  ///
  /// - Returns: the milliseconds for which nothing is refreshed for this resource; nil: a new token may help.
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
