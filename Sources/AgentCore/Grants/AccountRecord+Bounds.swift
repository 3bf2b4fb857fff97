import JSONCoding

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

  /// As the vault keeps it. Where that were more than `most` bytes, the oldest access tokens are left out, and then the oldest
  /// revocations and registered clients: a server that fills a record must not keep the next refresh token from being saved.
  ///
  /// - Throws: what JSON cannot hold.
  func bytes(atMost most: Int) throws -> [UInt8] {
    let whole = try JSONWriter.bytes(of: self)
    var excess = whole.count - most
    guard excess > 0 else { return whole }
    var record = self
    func size(of part: some Encodable) throws -> Int { try JSONWriter.bytes(of: part).count + 1 }
    while excess > 0, record.tokens.count > 1 { excess -= try size(of: record.tokens.removeFirst()) }
    while excess > 0, !record.revocations.isEmpty { excess -= try size(of: record.revocations.removeFirst()) }
    while excess > 0, var registrations = record.registrations, registrations.count > 1 {
      excess -= try size(of: registrations.removeFirst())
      record.registrations = registrations
    }
    if excess > 0 { record.tokens = [] }
    return try JSONWriter.bytes(of: record)
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
