import AgentWire

/// The accounts as their files define them, for a vault that is shut.
struct LockedList {
  /// However many files there are, reading them takes a small part of the time, whoever asks: a list is good for so many
  /// times as long as it took to read.
  private static let restFactor = 10.0

  let summaries: [AccountSummary]
  private let reason: String
  /// Boot seconds.
  private let end: Double

  /// Read from boot second `began` to `ended`.
  init(_ summaries: [AccountSummary], reason: String, began: Double, ended: Double) {
    self.summaries = summaries
    self.reason = reason
    end = ended + Self.restFactor * (ended - began)
  }

  /// Whether it answers who asks at boot second `now`, while the vault is shut for `reason`.
  func isGood(for reason: String, at now: Double) -> Bool { self.reason == reason && end > now }
}
