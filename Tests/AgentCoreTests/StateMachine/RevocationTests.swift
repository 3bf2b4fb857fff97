import AgentWire
import OAuthProtocol
import OAuthTerms
import Sealing
import Testing

@testable import AgentCore

@Suite("Revocation: what the server is told after a logout (RFC 7009)")
struct RevocationTests {
  /// With nothing to revoke but the refresh token.
  private func loggedOut() -> MachineDriver {
    let driver = MachineDriver(.expired())
    driver.change(.logout())
    driver.saved()
    return driver
  }

  @Test("what is done, or refused for good, is forgotten", arguments: [RevocationEnd.revoked, .refused("no")])
  func done(end: RevocationEnd) {
    let driver = loggedOut()
    driver.revocationEnds(end)
    driver.saved()
    #expect(driver.durable?.revocations.isEmpty == true)
    #expect(driver.machine.wake(at: driver.now) == nil)
  }

  @Test("what could not be told is kept over restarts and tried again, with back-off")
  func later() {
    let driver = loggedOut()
    var last = driver.now
    for round in 0..<12 {
      driver.revocationEnds(.later("503", retryAfterSeconds: nil))
      #expect(driver.durable?.revocations.count == 1)
      driver.sleepAndWake()
      #expect(driver.now.seconds(since: last) >= min(pow2(round), 300))
      last = driver.now
    }
    driver.crash()
    driver.wakes()
    driver.revocationEnds(.revoked)
    driver.saved()
    #expect(driver.durable?.revocations.isEmpty == true)
  }

  @Test("a client that is not accepted keeps it: tried once an hour, and at once with another client secret")
  func clientRefused() {
    let driver = loggedOut()
    driver.revocationEnds(.clientRefused("invalid_client"))
    #expect(driver.durable?.revocations.count == 1)
    let wait = (driver.machine.wake(at: driver.now) ?? 0) - driver.now.bootSeconds
    #expect(wait >= 2_700)
    driver.sleepAndWake()
    driver.revocationEnds(.clientRefused("invalid_client"))
    driver.change(.setSecret(.clientSecret, Secret("new")))
    driver.saved()
    #expect(driver.revocationSecret == Secret("new"))
    driver.revocationEnds(.revoked)
    driver.saved()
    #expect(driver.durable?.revocations.isEmpty == true)
  }

  @Test("a client secret that comes while one is being sent with the old secret is tried at once")
  func clientRefusedMeanwhile() {
    let driver = loggedOut()
    driver.change(.setSecret(.clientSecret, Secret("new")))
    driver.saved()
    driver.revocationEnds(.clientRefused("invalid_client"))
    #expect(driver.revocationSecret == Secret("new"))
  }

  @Test("the same while the new secret is being saved")
  func clientRefusedWhileSaving() {
    let driver = loggedOut()
    driver.change(.setSecret(.clientSecret, Secret("new")))
    driver.revocationEnds(.clientRefused("invalid_client"))
    driver.saved()
    #expect(driver.revocationSecret == Secret("new"))
  }

  @Test("after thirty days that is given up, too")
  func clientRefusedForLong() {
    let driver = loggedOut()
    driver.pass(RevocationRecord.lifeSeconds + 1)
    driver.revocationEnds(.clientRefused("invalid_client"))
    driver.saved()
    #expect(driver.durable?.revocations.isEmpty == true)
  }

  @Test("after thirty days it is given up")
  func givenUp() {
    let driver = loggedOut()
    driver.pass(RevocationRecord.lifeSeconds + 1)
    driver.revocationEnds(.later("503", retryAfterSeconds: nil))
    driver.saved()
    #expect(driver.durable?.revocations.isEmpty == true)
  }

  @Test("one at a time, in order, beside the refreshes of a new login")
  func besideLogin() {
    let driver = loggedOut()
    driver.change(.login("b1"))
    driver.saved()
    let id = driver.ask(force: true)
    driver.saved()
    driver.revocationEnds(.revoked)
    driver.endsDurably(.granted("b2"))
    #expect(driver.token(id) == "b2")
    driver.saved()
    #expect(driver.durable?.revocations.isEmpty == true)
    #expect(driver.durable?.accessToken == "b2")
  }

  @Test("what waits for a server that could end the newer login with it is told after that one's end")
  func heldByLogin() {
    let driver = loggedOut()
    driver.revocationEnds(.later("503", retryAfterSeconds: nil))
    driver.change(.login("b1"))
    driver.saved()
    driver.pass(RevocationRecord.lifeSeconds + 1)
    driver.wakes()
    #expect(driver.revoking == nil && driver.durable?.revocations.count == 1)
    driver.change(.logout())
    driver.saved()
    #expect(driver.revoking?.since == Moment.start, "the oldest first")
    driver.revocationEnds(.revoked)
    driver.saved()
    #expect(driver.revoking?.since != Moment.start && driver.revoking != nil)
  }

  @Test("so is what came beside a login that lives; after a refusal for good it is told")
  func owedBesideLogin() {
    let driver = MachineDriver(.expired())
    var owed = RevocationRecord(
      token: StoredSecret(Secret("unwanted")), hint: "refresh_token", binding: .plain, since: driver.now)
    driver.change(.owe(owed))
    driver.saved()
    #expect(driver.revoking == nil)
    driver.ask(force: true)
    driver.saved()
    driver.endsDurably(.refused("invalid_grant", "ended"))
    #expect(driver.revoking == owed)
    driver.revocationEnds(.revoked)
    driver.saved()
    driver.change(.login("b1"))
    driver.saved()
    owed.binding.clientID = "another"
    driver.change(.owe(owed))
    driver.saved()
    #expect(driver.revoking == owed, "the client of another login")
  }

  @Test("while a login is under way nothing is begun that it could be ended with, but what was asked for before it")
  func heldByLoginUnderWay() {
    let driver = loggedOut()
    driver.define(.browser.changed { $0.clientID = DefinitionBinding.plain.clientID })
    driver.revocationEnds(.later("503", retryAfterSeconds: nil))
    driver.asksForRevocation()
    #expect(driver.revoking != nil)
    driver.revocationEnds(.later("503", retryAfterSeconds: nil))
    driver.holds(nil, beside: [LoginAtServer(underWayBy: .plain)])
    driver.pass(600)
    driver.wakes()
    #expect(driver.revoking == nil)
    driver.holds(nil)
    driver.wakes()
    #expect(driver.revoking != nil)
  }

  @Test("the end of a revocation does not shorten the back-off of refreshes")
  func backoffStays() {
    let driver = loggedOut()
    driver.change(.login("b1"))
    driver.saved()
    driver.ask(force: true)
    driver.saved()
    driver.endsDurably(.unusable(.status(429), retryAfterSeconds: 600))
    driver.revocationEnds(.revoked)
    driver.saved()
    #expect(driver.failure(driver.ask(force: true)) == .unavailable)
  }

  @Test("what a logout asks for is sent to a server that cannot be reached, too; trying again waits for the server")
  func held() {
    let driver = MachineDriver(.expired())
    driver.holds(nil, revocation: .until(planned: 10_060, asked: 10_004, reason: "no route"))
    driver.change(.logout())
    driver.saved()
    driver.revocationEnds(.later("no route", retryAfterSeconds: nil))
    driver.pass(10)
    driver.wakes()
    #expect(driver.revoking == nil)
    #expect(driver.machine.wake(at: driver.now) == nil, "its server's own deadline wakes it")
    driver.holds(nil, revocation: .probing)
    driver.pass(100)
    driver.wakes()
    #expect(driver.revoking == nil && driver.machine.wake(at: driver.now) == nil, "who asks will tell")
    driver.holds(nil, revocation: nil)
    driver.wakes()
    #expect(driver.revoking != nil)
    driver.crash()
    driver.holds(nil, revocation: .until(planned: 10_200, asked: 10_200, reason: "no route"))
    #expect(driver.machine.wake(at: driver.now) == nil, "nobody asked this agent")
    driver.pass(200)
    driver.wakes()
    #expect(driver.revoking != nil)
  }

  @Test(
    "the refresh token is told first, then each access token that lives; one that ended meanwhile is not tried again")
  func accessTokens() {
    let other = TokenKey(scope: ["write"], resource: [], audience: [])
    let driver = MachineDriver(
      .loggedIn(life: 3_600, age: 600).with {
        guard var old = $0.tokens.first, let token = $0.tokens.first else { return }
        old.key = other
        old.accessToken = StoredSecret(Secret("ended"))
        old.lifeSeconds = 60
        $0.tokens = [token, old]
      })
    driver.change(.logout())
    driver.saved()
    #expect(driver.durable?.revocations.map(\.hint) == ["refresh_token", "access_token"])
    #expect(driver.durable?.revocations.map(\.token.secret) == [Secret("r1"), Secret("a1")])
    #expect(driver.durable?.revocations.last?.lifeSeconds == 3_000)
    driver.revocationEnds(.revoked)
    driver.saved()
    driver.wakes()
    #expect(driver.revoking?.hint == "access_token")
    driver.pass(3_001)
    driver.revocationEnds(.later("503", retryAfterSeconds: nil))
    driver.saved()
    #expect(driver.durable?.revocations.isEmpty == true)
  }

  @Test("without a refresh token every access token is told; without an endpoint nothing is")
  func which() {
    let driver = MachineDriver(.loggedIn(refreshToken: nil))
    driver.change(.logout())
    driver.saved()
    #expect(driver.revoking?.hint == "access_token")
    let silent = MachineDriver(.loggedIn().with { $0.grant?.binding.revocationEndpoint = nil })
    silent.change(.logout())
    silent.saved()
    #expect(silent.revoking == nil)
    #expect(silent.durable?.revocations.isEmpty == true)
  }

  private func pow2(_ exponent: Int) -> Double { 0.75 * Double(1 << exponent) }
}

@Suite("Grants that need no person")
struct UnattendedGrantTests {
  private func password(_ refreshToken: String? = "r1") -> AccountRecord {
    .expired(refreshToken: refreshToken, kind: .password).with { $0.password = StoredSecret(Secret("secret")) }
  }

  private static let definition = AccountDefinition.plain.with { $0.grant = .password }

  @Test("client credentials are asked for anew, with the account's scope, without an intent")
  func clientCredentials() {
    let driver = MachineDriver(
      .expired(refreshToken: nil, kind: .clientCredentials), .plain.with { $0.grant = .clientCredentials })
    let id = driver.ask()
    #expect(driver.log == ["send"])
    #expect(driver.sent.first?.scope == ["read"])
    driver.ends(.granted("a2", refreshToken: "surprise"))
    #expect(driver.isWaiting(id))
    driver.saved()
    #expect(driver.token(id) == "a2")
    #expect(driver.durable?.refreshToken == nil, "RFC 6749 §4.4.3: this grant has no refresh token")
  }

  @Test("a lost answer uses nothing up: an ordinary failure, and changes that wait go on")
  func nothingLost() {
    for end in [TokenCallEnd.sentNoAnswer("closed"), .notSent("refused")] {
      let driver = MachineDriver(
        .expired(refreshToken: nil, kind: .clientCredentials), .plain.with { $0.grant = .clientCredentials })
      let id = driver.ask()
      let change = driver.change(.setSecret(.clientSecret, Secret("s")))
      driver.ends(end)
      #expect(driver.failure(id) == .unavailable)
      driver.saved()
      #expect(driver.isDurable(change))
    }
  }

  @Test("with a stored password a dead refresh token leads to another login, for the same waiters")
  func again() {
    let driver = MachineDriver(password(), Self.definition)
    let id = driver.ask()
    driver.saved()
    driver.ends(.invalidGrant)
    driver.saved()
    #expect(driver.sent.last?.grant.type == "password")
    #expect(driver.sent.last?.grant.parameters.encodedBody() == Secret("username=alice&password=secret"))
    driver.endsDurably(.granted("a2", refreshToken: "r5"))
    #expect(driver.token(id) == "a2")
    #expect(driver.durable?.refreshToken == "r5")
    #expect(driver.sent.count == 2)
  }

  @Test("a login that gave no refresh token drops the dead one, so that it is not tried first every time")
  func dropsDead() {
    let driver = MachineDriver(password(), Self.definition)
    driver.ask()
    driver.saved()
    driver.ends(.invalidGrant)
    driver.saved()
    driver.endsDurably(.granted("a2", refreshToken: nil))
    #expect(driver.durable?.refreshToken == nil)
    driver.ask(force: true)
    #expect(driver.sent.count == 3)
  }

  @Test("a password that is refused asks for a login, and a new one is tried")
  func refusedPassword() {
    let driver = MachineDriver(password(nil), Self.definition)
    let id = driver.ask()
    driver.ends(.invalidGrant)
    driver.saved()
    #expect(driver.failure(id) == .loginRequired)
    #expect(driver.failure(driver.ask()) == .loginRequired)
    #expect(driver.sent.count == 1)
    driver.change(.setSecret(.password, Secret("better")))
    driver.saved()
    driver.ask()
    #expect(driver.sent.count == 2)
  }

  @Test("without a stored password, or for another grant, invalid_grant is the end")
  func noPassword() {
    let another = Self.definition.with { $0.grant = .deviceCode }
    for (record, definition) in [
      (password().with { $0.password = nil }, Self.definition),
      (password().with { $0.grant?.kind = .deviceCode }, another),
    ] {
      let driver = MachineDriver(record, definition)
      let id = driver.ask()
      driver.saved()
      driver.endsDurably(.invalidGrant)
      #expect(driver.failure(id) == .loginRequired)
    }
  }
}
