/// Wrong passphrases and codes in a row, and how long the next one has to wait.
///
/// Argon2id is what makes guessing dear; this keeps a program that guesses from using up the processor. Kept in memory:
/// a restart forgets it.
struct FailedAttempts: Equatable, Sendable {
  private(set) var count = 0
  /// Boot seconds before which none is hashed.
  private(set) var until = 0.0

  /// Mistypings that cost no wait: a person who knows the passphrase needs no more.
  static let free = 3
  /// A person who mistypes again and again waits no longer than this.
  static let greatestSeconds = 30.0

  /// Seconds to wait after `count` wrong ones: none after three, then 1, 2, 4 … 30.
  static func delaySeconds(after count: Int) -> Double {
    guard count > free else { return 0 }
    var seconds = 1.0
    for _ in (free + 1)..<min(count, free + 8) { seconds *= 2 }
    return min(seconds, greatestSeconds)
  }

  mutating func failed(at now: Double) {
    count += 1
    until = now + FailedAttempts.delaySeconds(after: count)
  }

  mutating func succeeded() { self = FailedAttempts() }

  /// Seconds until the next may be tried; 0: at once. A clock that went back costs no more than the longest wait.
  func waitSeconds(at now: Double) -> Double { min(max(0, until - now), FailedAttempts.greatestSeconds) }
}
