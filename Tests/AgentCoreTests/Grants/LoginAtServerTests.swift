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

  private func revocation(since: Moment) -> RevocationRecord {
    RevocationRecord(token: StoredSecret(Secret("old")), hint: "refresh_token", binding: .plain, since: since)
  }

  private func mayEnd(_ record: AccountRecord, isOwn: Bool = false, with revocation: RevocationRecord, at now: Moment)
    -> Bool
  {
    LoginAtServer(record, isOwn: isOwn, at: now)?.mayEnd(with: revocation) == true
  }

  @Test("a logout ends the logins of before it as its server likes, and none of after it")
  func order() {
    #expect(mayEnd(record(loggedIn: later), with: revocation(since: .start), at: later))
    #expect(!mayEnd(record(loggedIn: .start), with: revocation(since: later), at: later))
  }

  @Test("a login of this boot came after a logout of another one, whatever the clock said then")
  func clocks() {
    var ahead = Moment.start
    ahead.bootID = "before"
    ahead.wallSeconds += 86_400
    #expect(mayEnd(record(loggedIn: later), with: revocation(since: ahead), at: later))
    #expect(!mayEnd(record(loggedIn: ahead), with: revocation(since: later), at: later))
    // Of two earlier boots the clocks are all there is.
    var now = later
    now.bootID = "next"
    #expect(!mayEnd(record(loggedIn: later), with: revocation(since: ahead), at: now))
  }

  @Test("the account's own login comes after its logouts, whatever the clocks say")
  func own() {
    #expect(mayEnd(record(loggedIn: .start), isOwn: true, with: revocation(since: later), at: later))
  }

  @Test("a login that was under way when another one was ended is spared, and none of before it")
  func underWay() {
    var owed = revocation(since: Moment.start.advanced(by: 30))
    owed.sparing = Moment.start.advanced(by: 10)
    #expect(mayEnd(record(loggedIn: Moment.start.advanced(by: 20)), with: owed, at: later))
    #expect(!mayEnd(record(loggedIn: .start), with: owed, at: later))
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
    let old = revocation(since: Moment.start.advanced(by: -1))
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
