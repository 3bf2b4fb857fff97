/// Readings of the configuration files. One follows another, and whoever comes while one is under way shares the next: what
/// is to be read may have been written since that one began.
struct FileReadings {
  typealias Reading = Task<Configuration, Never>

  /// Seconds between two readings because of an authority: a person who puts the file back waits no longer, and a thousand
  /// accounts cost one.
  private static let authorityPauseSeconds = 5.0

  /// A reading for a question is paid for with this many times as long as it took: however many files there are and callers
  /// ask, the agent reads for a small part of its time only.
  private static let restFactor = 10.0
  /// Seconds of rest that may be owed: a person who puts one file right after the other has each read at once.
  private static let owedRestSeconds = 5.0

  private var current: Reading?
  /// Somebody waits for it, and it has not begun.
  private(set) var next: Reading?
  /// Boot second of the last reading because of an authority.
  private var authorityRead = -Double.infinity
  /// Boot second at which the readings for questions are paid for.
  private var paidFrom = -Double.infinity
  private var isReadingForQuestion = false

  /// The reading to wait for. A new one is made of `read`, which calls ``begin()`` and ``end()``.
  mutating func join(_ read: @escaping @Sendable () async -> Configuration) -> Reading {
    if let next { return next }
    let before = current
    let reading = Task {
      _ = await before?.value
      return await read()
    }
    next = reading
    return reading
  }

  mutating func begin() { (current, next) = (next, nil) }

  mutating func end() { current = nil }

  /// Whether the files are to be read at boot second `now` because an authority has changed; counts as read then.
  mutating func beginsForAuthority(at now: Double) -> Bool {
    guard now - authorityRead >= Self.authorityPauseSeconds else { return false }
    authorityRead = now
    return true
  }

  /// Whether a question at boot second `now` has the files read; ``endForQuestion(began:at:)`` follows then.
  mutating func beginsForQuestion(at now: Double) -> Bool {
    guard !isReadingForQuestion, paidFrom - now <= Self.owedRestSeconds else { return false }
    isReadingForQuestion = true
    return true
  }

  mutating func endForQuestion(began: Double, at now: Double) {
    isReadingForQuestion = false
    paidFrom = max(paidFrom, now) + Self.restFactor * (now - began)
  }
}
