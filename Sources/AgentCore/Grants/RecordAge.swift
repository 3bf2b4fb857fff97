/// Tells which of two copies of an account's record is newer. Copies come apart where an older vault is put back.
///
/// The later login, or end of one, counts: a token that came since for an older login says nothing about a newer one. Of one login
/// the later token does, since a server may take an earlier one no more, whatever else was changed beside that.
package struct RecordAge: Sendable, Equatable, Comparable {
  /// The number of the last login, logout or forgetting; 0: it is from before they were numbered.
  package let login: UInt64
  /// ``GrantRecord/tokenOrder``; 0 as above, and without a login.
  package let token: UInt64
  /// Of a token without a number: when it came, in Unix seconds; else 0.
  var received = 0.0
  /// ``AccountRecord/order``; 0 as above.
  package let change: UInt64

  /// Of an account of which nothing is to be left: no copy is newer.
  static let erased = RecordAge(login: .max, token: .max, received: 0, change: .max)

  /// The greatest of its numbers.
  package var last: UInt64 { max(login, token, change) }

  package static func < (left: RecordAge, right: RecordAge) -> Bool {
    (left.login, left.token, left.received, left.change) < (right.login, right.token, right.received, right.change)
  }
}

extension AccountRecord {
  package var age: RecordAge {
    let token = grant?.tokenOrder
    return RecordAge(
      login: max(grant?.order ?? 0, logoutOrder ?? 0), token: token ?? 0,
      received: token == nil ? grant?.refreshTokenReceived?.wallSeconds ?? 0 : 0, change: order ?? 0)
  }
}
