import OAuthTerms
import Sealing
import Testing

@testable import AgentCore

@Suite("Two copies of an account's record")
struct RecordCopiesTests {
  private static func record(login: UInt64? = nil, logout: UInt64? = nil, change: UInt64?) -> AccountRecord {
    AccountRecord.loggedIn().with {
      $0.grant?.order = login
      if login == nil { $0.grant = nil }
      ($0.logoutOrder, $0.order) = (logout, change)
    }
  }

  @Test("a later login or logout is newer than any token, secret or acceptance of an earlier login")
  func loginsFirst() {
    let first = Self.record(login: 1, change: 30), second = Self.record(login: 2, change: 2)
    let loggedOut = Self.record(logout: 3, change: 3), forgotten = Self.record(logout: 4, change: 4)
    let sorted = [forgotten, first, loggedOut, second].sorted { $0.age < $1.age }
    #expect(sorted == [first, second, loggedOut, forgotten])
  }

  @Test("of one login the later change is newer, and what has no number is the oldest")
  func changesOfOneLogin() {
    #expect(Self.record(login: 1, change: 2).age < Self.record(login: 1, change: 3).age)
    #expect(AccountRecord.loggedIn().age < Self.record(login: 1, change: 1).age)
    #expect(AccountRecord.loggedIn().age < RecordAge.erased)
  }

  private static func secret(_ text: String, _ number: UInt64?, in record: AccountRecord) -> AccountRecord {
    record.with { ($0.clientSecret, $0.clientSecretOrder) = (StoredSecret(Secret(text)), number) }
  }

  @Test("a secret that was set later is taken in, with its place and its number")
  func laterSecret() {
    var newer = Self.secret("a", 2, in: Self.record(login: 9, change: 9))
    let older = Self.secret("b", 5, in: Self.record(login: 1, change: 5)).with {
      ($0.password, $0.passwordOrder) = (StoredSecret(Secret("p")), 10)
    }
    #expect(newer.lacksParts(of: older))
    newer.join(older)
    #expect(newer.clientSecret == older.clientSecret && newer.clientSecretOrder == 5)
    #expect(newer.password == older.password && newer.passwordOrder == 10)
    #expect(newer.grant?.order == 9 && !newer.lacksParts(of: older))
  }

  @Test("an earlier secret, one without a number, and one that was taken out since are not")
  func earlierSecrets() {
    let kept = Self.secret("a", 6, in: Self.record(login: 9, change: 9))
    for number: UInt64? in [5, nil] {
      #expect(!kept.lacksParts(of: Self.secret("b", number, in: Self.record(login: 1, change: 5))))
    }
    let takenOut = Self.record(login: 7, change: 9)
    #expect(!takenOut.lacksParts(of: Self.secret("b", 8, in: Self.record(login: 1, change: 8))))
  }

  @Test("a forgotten account is no copy of a login")
  func forgotten() {
    #expect(AccountRecord(name: "work").with { $0.logoutOrder = 4 }.isEmpty)
  }
}
