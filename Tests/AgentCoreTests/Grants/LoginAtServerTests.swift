import OAuthProtocol
import OAuthTerms
import Sealing
import Testing

@testable import AgentCore

@Suite("Which logins a revocation could end")
struct LoginAtServerTests {
  private let later = Moment.start.advanced(by: 60)

  private func record(
    loggedIn: Moment = .start, refreshToken: Bool = true, life: Double? = 3_600,
    _ change: (inout GrantRecord) -> Void = { _ in }
  ) -> AccountRecord {
    var grant = GrantRecord(
      kind: .authorizationCode, refreshToken: refreshToken ? StoredSecret(Secret("r")) : nil,
      refreshTokenReceived: loggedIn, refreshTokenLifeSeconds: nil, scope: [], loggedIn: loggedIn, binding: .plain)
    change(&grant)
    var record = AccountRecord(name: "work")
    record.grant = grant
    record.tokens = [
      TokenRecord(
        key: .standard, accessToken: Secret("a"), tokenType: "Bearer", scope: [], received: loggedIn, lifeSeconds: life)
    ]
    return record
  }

  private func revocation(order: UInt64?) -> RevocationRecord {
    var owed = RevocationRecord(
      token: StoredSecret(Secret("old")), hint: "refresh_token", binding: .plain, since: .start)
    owed.order = order
    return owed
  }

  private func mayEnd(_ record: AccountRecord, isOwn: Bool = false, with revocation: RevocationRecord, at now: Moment)
    -> Bool
  {
    LoginAtServer(record, isOwn: isOwn, at: now)?.mayEnd(with: revocation) == true
  }

  @Test("a logout ends the logins of before it as its server likes, and none of after it, whatever the clocks say")
  func order() {
    #expect(mayEnd(record { $0.order = 3 }, with: revocation(order: 2), at: later))
    #expect(!mayEnd(record { $0.order = 1 }, with: revocation(order: 2), at: later))
    #expect(!mayEnd(record(), with: revocation(order: 2), at: later), "from before logins were numbered")
  }

  @Test("the account's own login, and one that is under way, come after every logout")
  func own() {
    #expect(mayEnd(record { $0.order = 1 }, isOwn: true, with: revocation(order: 2), at: later))
    #expect(LoginAtServer(underWayBy: .plain).mayEnd(with: revocation(order: 2)))
  }

  @Test("what came for a login that was not kept ends none")
  func unkept() {
    #expect(mayEnd(record { $0.order = 1 }, with: revocation(order: nil), at: later))
  }

  @Test("over a reboot such an end is known by the server's clock alone")
  func reboot() {
    var (before, now) = (Moment.start, later)
    (before.bootID, before.behindSeconds) = ("before", 0)
    now.wallSeconds += 900
    let bare = record(loggedIn: before, refreshToken: false, life: 600)
    #expect(bare.loginMayLive(at: now), "the clock may be wrong")
    now.behindSeconds = -900
    #expect(bare.loginMayLive(at: now))
    now.behindSeconds = 0
    #expect(!bare.loginMayLive(at: now))
  }

  @Test("a login without a refresh token lives as long as its tokens")
  func bare() {
    let bare = record(refreshToken: false, life: 60)
    let old = revocation(order: nil)
    #expect(mayEnd(bare, with: old, at: Moment.start.advanced(by: 59)))
    #expect(!mayEnd(bare, with: old, at: later))
    #expect(bare.loginEnd(at: .start) == later.bootSeconds)
    #expect(mayEnd(record(refreshToken: false, life: nil), with: old, at: later), "nobody knows its end")
    #expect(mayEnd(record(life: 60), with: old, at: later))
  }

  @Test("a login by a password that is not kept is a person's, one that the agent can make again is none")
  func typedPassword() {
    var record = record(refreshToken: false) { $0.kind = .password }
    #expect(record.loginMayLive(at: later))
    record.password = StoredSecret(Secret("kept"))
    #expect(!record.loginMayLive(at: later))
  }
}
