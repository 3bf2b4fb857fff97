import HTTPTerms
import OAuthProtocol
import OAuthTerms
import Sealing
import Testing

@testable import AgentCore

@Suite("Two copies of an account's record")
struct RecordCopiesTests {
  private static let now = Moment(bootID: "boot-1", bootSeconds: 10, wallSeconds: 1_700_000_000)

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
    #expect(newer.lacksParts(of: older, at: Self.now))
    newer.join(older, at: Self.now)
    #expect(newer.clientSecret == older.clientSecret && newer.clientSecretOrder == 5)
    #expect(newer.password == older.password && newer.passwordOrder == 10)
    #expect(newer.grant?.order == 9 && !newer.lacksParts(of: older, at: Self.now))
  }

  @Test("an earlier secret, one without a number, and one that was taken out since are not")
  func earlierSecrets() {
    let kept = Self.secret("a", 6, in: Self.record(login: 9, change: 9))
    for number: UInt64? in [5, nil] {
      #expect(!kept.lacksParts(of: Self.secret("b", number, in: Self.record(login: 1, change: 5)), at: Self.now))
    }
    let takenOut = Self.record(login: 7, change: 9).with { $0.clientSecretOrder = 9 }
    #expect(!takenOut.lacksParts(of: Self.secret("b", 8, in: Self.record(login: 1, change: 8)), at: Self.now))
    // Nothing was taken out where nothing was.
    let accepted = Self.record(login: 1, change: 20)
    #expect(accepted.lacksParts(of: Self.secret("b", 8, in: Self.record(login: 1, change: 8)), at: Self.now))
  }

  private static func token(_ text: String, _ number: UInt64, in record: AccountRecord) -> AccountRecord {
    record.with {
      $0.grant?.refreshToken = StoredSecret(Secret(text))
      $0.grant?.tokenOrder = number
    }
  }

  @Test("of one login the later token is newer, whatever was changed beside it since")
  func tokensBeforeChanges() {
    let refreshed = Self.token("r2", 8, in: Self.record(login: 1, change: 1))
    #expect(Self.token("r1", 1, in: Self.record(login: 1, change: 20)).age < refreshed.age)
    #expect(refreshed.age < Self.record(login: 9, change: 9).age)
  }

  @Test("of tokens without a number the one that came later is newer, and older than any with one")
  func unnumberedTokens() {
    let first = Self.record(login: 1, change: 30),
      second = first.with {
        $0.grant?.refreshTokenReceived = Moment.start.advanced(by: 60)
        $0.order = 2
      }
    #expect(first.age < second.age && second.age < Self.token("r3", 1, in: first).age)
  }

  @Test("where tokens go is not taken from the other copy, nor are the places of secrets that stay")
  func acceptance() {
    let newer = Self.secret("a", 8, in: Self.token("r2", 8, in: Self.record(login: 1, change: 1)))
    let accepted = newer.with {
      $0.grant?.binding.tokenEndpoint = "https://b.example/token"
      $0.grant?.binding.hosts = ["https://b.example"]
      $0.order = 20
    }
    #expect(!newer.lacksParts(of: accepted, at: Self.now))
  }

  @Test("a secret that was taken out later is out, whichever counts")
  func takenOut() {
    var newer = Self.secret("a", 2, in: Self.record(login: 9, change: 9))
    newer.join(Self.record(login: 1, change: 20).with { $0.clientSecretOrder = 20 }, at: Self.now)
    #expect(newer.clientSecret == nil && newer.clientSecretOrder == 20)
  }

  @Test("tokens that a logout did not know are to be revoked, those that it ended are not again")
  func unknownTokens() {
    let loggedOut = Self.record(logout: 20, change: 20).with { $0.formerTokenOrder = 5 }
    func owed(_ token: UInt64) -> [UInt64?] {
      var joined = loggedOut
      joined.join(Self.token("r", token, in: Self.record(login: 1, change: 1)), at: Self.now)
      return joined.revocations.map(\.order)
    }
    for token: UInt64 in [8, 21] { #expect(!owed(token).isEmpty && owed(token).allSatisfy { $0 == 20 }) }
    #expect(owed(5).isEmpty)
    var unnumbered = loggedOut
    unnumbered.join(Self.record(login: 1, change: 1), at: Self.now)
    #expect(!unnumbered.revocations.isEmpty, "nobody knows, and twice is once too often at most")
  }

  @Test("a secret that was taken out is sent for nothing that waits, and goes with an account when all is told")
  func secretsOfRevocations() {
    let waiting = Self.secret("a", 2, in: Self.record(logout: 20, change: 20)).with {
      var owed = RevocationRecord(
        token: StoredSecret(Secret("r")), hint: "refresh_token", binding: .plain, since: Self.now)
      owed.clientSecret = StoredSecret(Secret("a"))
      $0.revocations = [owed]
      $0.formerBinding = .plain
    }
    var joined = waiting
    joined.join(Self.record(login: 1, change: 30).with { $0.clientSecretOrder = 30 }, at: Self.now)
    #expect(joined.clientSecret == nil && joined.revocations.map(\.clientSecret) == [nil])
    var forgotten = AccountRecord(name: "work").with { ($0.logoutOrder, $0.clientSecretOrder) = (40, 40) }
    forgotten.join(waiting, at: Self.now)
    #expect(forgotten.revocations.map(\.clientSecret) == [StoredSecret(Secret("a"))])
  }

  @Test("a client of a forgotten account is to be deleted, once")
  func clientsOfForgotten() throws {
    let uri = try WebURL("https://login.example.com/clients/1")
    let management = ClientManagement(uri: uri, accessToken: Secret("token"))
    let registered = Self.record(login: 1, change: 1).with {
      $0.registrations = [ClientRegistrationRecord(binding: .plain, since: Self.now, management: management)]
    }
    var forgotten = AccountRecord(name: "work").with { $0.logoutOrder = 40 }
    for _ in 1...2 { forgotten.join(registered, at: Self.now) }
    #expect(forgotten.registrations == nil && forgotten.revocations.count { $0.clientURI != nil } == 1)
  }

  @Test("no number, time or count of a record is so great that it cannot be counted on")
  func bounds() {
    #expect(Self.record(login: 1, change: 1).isInBounds)
    let broken: [(inout AccountRecord) -> Void] = [
      { $0.order = .max }, { $0.grant?.tokenOrder = 1 << 62 }, { $0.grant?.loggedIn.wallSeconds = 1e300 },
      { $0.grant?.lastAskedWallSeconds = -1e16 }, { $0.tokens[0].lifeSeconds = 1e300 },
      { $0.tokens[0].received.bootSeconds = -.infinity },
    ]
    for change in broken { #expect(!Self.record(login: 1, change: 1).with(change).isInBounds) }
  }

  @Test("a forgotten account is no copy of a login")
  func forgotten() {
    #expect(AccountRecord(name: "work").with { $0.logoutOrder = 4 }.isEmpty)
  }
}
