/// Whoever knows the key of a vault can seal anything in it: no number of a record is so great that what is made of it cannot be
/// counted any more.
extension AccountRecord {
  /// An agent gives numbers below this for longer than any machine runs.
  private static let greatestNumber: UInt64 = 1 << 61
  /// 30 million years, and counted in milliseconds still exact enough.
  static let greatestSeconds = 1e15
  private static let mostAttempts = 1 << 32

  /// Whether all of its numbers, times and counts are in bounds.
  var isInBounds: Bool {
    numbers.allSatisfy { $0 <= Self.greatestNumber } && seconds.allSatisfy { abs($0) <= Self.greatestSeconds }
      && ([intent?.attempt].compactMap(\.self) + revocations.map(\.attempts)).allSatisfy {
        (0...Self.mostAttempts).contains($0)
      }
  }

  /// Every number that was given for it: see ``order``.
  var numbers: [UInt64] {
    let own = [order, logoutOrder, formerTokenOrder, clientSecretOrder, passwordOrder]
    return (own + [grant?.order, grant?.tokenOrder] + revocations.map(\.order)).compactMap(\.self)
  }

  private var seconds: [Double] {
    let moments =
      [grant?.loggedIn, grant?.refreshed, grant?.refreshTokenReceived, intent?.at, intent?.first].compactMap(\.self)
      + tokens.map(\.received) + revocations.map(\.since) + (registrations ?? []).map(\.since)
    let lives =
      [grant?.refreshTokenLifeSeconds, grant?.lastAskedWallSeconds, grant?.identity.map { Double($0.expires) }]
      + tokens.map(\.lifeSeconds) + revocations.map(\.lifeSeconds)
    return moments.flatMap(\.seconds) + lives.compactMap(\.self)
  }
}

extension LateToken {
  /// As ``AccountRecord/isInBounds``.
  var isInBounds: Bool {
    (received.seconds + [loggedIn?.seconds ?? [], [lifeSeconds ?? 0]].joined()).allSatisfy {
      abs($0) <= AccountRecord.greatestSeconds
    }
  }
}

extension Moment {
  fileprivate var seconds: [Double] { [bootSeconds, wallSeconds, behindSeconds ?? 0] }
}
