import AgentWire
import OAuthProtocol
import OAuthTerms
import Sealing
import Testing

@testable import AgentCore

@Suite("A refresh whose answer is lost")
struct AmbiguityTests {
  @Test("a lost answer gets one retry at once; a second loss is told as login_required, unconfirmed, and ends nothing")
  func ambiguous() {
    let driver = MachineDriver(.expired())
    let id = driver.ask()
    driver.saved()
    driver.ends(.sentNoAnswer("closed"))
    #expect(driver.isWaiting(id))
    #expect(driver.durable?.intent?.attempt == 1)
    let joined = driver.ask()
    driver.sleepAndWake()
    driver.saved()
    #expect(driver.durable?.intent?.attempt == 2)
    #expect(driver.now.seconds(since: .start) < 60, "the retry comes within the minute that servers are lenient for")
    driver.endsDurably(.sentNoAnswer("closed"))
    #expect(driver.failure(id) == .loginRequired)
    #expect(driver.failure(joined) == .loginRequired)
    #expect(driver.durable?.grant?.verdict?.isUnconfirmed == true)
    driver.pass(10)
    #expect(driver.failure(driver.ask()) == .loginRequired)
    driver.wakes()
    #expect(driver.sent.count == 2)
    #expect(driver.durable?.refreshToken == "r1", "no verdict deletes a refresh token")
  }

  @Test("a lost sending still counts after an answer that decides nothing, which is followed by the ordinary wait")
  func answerBetween() {
    let driver = MachineDriver(.expired())
    driver.ask()
    driver.saved()
    driver.ends(.sentNoAnswer("closed"))
    for count in 2...3 {
      driver.sleepAndWake()
      driver.saved()
      #expect(driver.sent.count == count)
      let answered = driver.now.bootSeconds
      driver.endsDurably(.serverError)
      #expect(driver.durable?.intent?.attempt == 1, "that of the lost one")
      #expect(driver.failure(driver.ask()) == .unavailable, "nobody waits out the back-off")
      driver.wakes()
      #expect(driver.sent.count == count)
      #expect((driver.machine.wake(at: driver.now) ?? 0) > answered)
    }
    driver.sleepAndWake()
    driver.saved()
    driver.endsDurably(.sentNoAnswer("closed"))
    #expect(driver.sent.count == 4 && driver.durable?.grant?.verdict?.isUnconfirmed == true)
    #expect(driver.durable?.intent?.attempt == 2)
  }

  @Test(
    "a lost sending still counts after a refusal of the client or of the request",
    arguments: [
      TokenCallEnd.invalidClient, .refused("invalid_scope"), .refused("invalid_request"),
    ])
  func refusalBetween(refusal: TokenCallEnd) {
    let driver = MachineDriver(.expired().withIntent(attempt: 1))
    driver.wakes()
    driver.saved()
    driver.endsDurably(refusal)
    #expect(driver.sent.count == 1 && driver.durable?.intent?.attempt == 1)
    driver.sleepAndWake()
    driver.saved()
    driver.endsDurably(.sentNoAnswer("closed"))
    #expect(driver.sent.count == 2 && driver.durable?.grant?.verdict?.kind == .loginRequired)
    #expect(driver.durable?.grant?.verdict?.isUnconfirmed == true && driver.durable?.intent?.attempt == 2)
  }

  @Test("a login by a kept password in the place of a refresh takes no sending of the refresh token back")
  func loginBetween() {
    let driver = MachineDriver(
      .expired(kind: .password).withIntent(attempt: 1).with {
        $0.password = StoredSecret(Secret("secret"))
      }, .plain.with { $0.grant = .password })
    driver.wakes()
    driver.saved()
    for _ in 0..<2 {
      driver.endsDurably(.emptyRefusal)
      driver.pass(400)
      driver.wakes()
      driver.saved()
    }
    driver.endsDurably(.emptyRefusal)
    #expect(driver.sent.last?.isLogin == true)
    driver.endsDurably(.serverError)
    #expect(driver.durable?.intent?.attempt == 1)
  }

  @Test("a login that the agent makes itself is the same login: nobody has agreed to another one")
  func ownLogin() {
    let driver = MachineDriver(
      .expired(kind: .password).with { $0.password = StoredSecret(Secret("secret")) },
      .plain.with { $0.grant = .password })
    let before = driver.durable?.grant?.loginID
    driver.ask()
    driver.saved()
    driver.endsDurably(.invalidGrant)
    #expect(driver.sent.last?.isLogin == true)
    driver.endsDurably(.granted("a2", refreshToken: "r2"))
    #expect(driver.durable?.refreshToken == "r2" && driver.durable?.grant?.loginID == before)
  }

  @Test("the server's word on the grant, and a token, end what was lost before")
  func decided() {
    for end in [TokenCallEnd.granted("a2"), .invalidGrant, .unusable(.accessTokenMissing, refreshToken: "r2")] {
      let driver = MachineDriver(.expired().withIntent(attempt: 1))
      driver.wakes()
      driver.saved()
      driver.endsDurably(end)
      #expect(driver.durable?.intent == nil)
    }
  }

  @Test("ambiguity never ends a login: it is tried again with a growing wait, hourly at most, until the server's word")
  func neverGivesUp() {
    let driver = MachineDriver(.expired())
    driver.ask()
    driver.saved()
    driver.ends(.sentNoAnswer("closed"))
    driver.sleepAndWake()
    driver.saved()
    driver.endsDurably(.sentNoAnswer("closed"))
    var waits: [Double] = []
    for _ in 0..<11 {
      let before = driver.now.bootSeconds
      if waits.count == 4 { driver.crash() }
      driver.sleepAndWake()
      waits.append((driver.now.bootSeconds - before).rounded())
      driver.saved()
      driver.endsDurably(.sentNoAnswer("closed"))
      #expect(driver.failure(driver.ask()) == .loginRequired)
    }
    #expect(waits == [15, 30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600])
    driver.sleepAndWake()
    driver.saved()
    driver.endsDurably(.granted("a2"))
    #expect(driver.token(driver.ask()) == "a2")
    #expect(driver.durable?.grant?.verdict == nil && driver.durable?.intent == nil)
  }

  @Test("while the access token lives it is served, and nothing is sent until its end; then a refusal is believed")
  func waitsForTheEnd() {
    let driver = MachineDriver(.loggedIn(life: 3_600).withIntent(attempt: 2), .plain.with { $0.keep = .always })
    driver.sleepAndWake()
    driver.saved()
    #expect(driver.durable?.grant?.verdict?.isUnconfirmed == true)
    #expect(driver.token(driver.ask()) == "a1")
    #expect(driver.machine.wake(at: driver.now) == 13_600)
    driver.sleepAndWake()
    driver.saved()
    driver.endsDurably(.invalidGrant)
    #expect(driver.durable?.grant?.verdict?.isUnconfirmed == nil)
    driver.pass(100_000)
    driver.wakes()
    #expect(driver.sent.count == 1, "the server's word ends it")
  }

  @Test("a refusal while the access token lives is told, and believed when the server repeats it after the token's end")
  func earlyRefusal() {
    let driver = MachineDriver(.loggedIn(life: 3_600, age: 3_000, asked: true))
    driver.sleepAndWake()
    driver.saved()
    driver.endsDurably(.invalidGrant)
    #expect(driver.durable?.grant?.verdict?.isUnconfirmed == true)
    #expect(driver.token(driver.ask()) == "a1")
    #expect(driver.failure(driver.ask(rejected: "a1")) == .loginRequired)
    driver.saved()
    #expect(driver.durable?.tokens.map(\.isRejected) == [true])
    let next = MachineDriver(driver.durable)
    #expect(next.failure(next.ask()) == .loginRequired, "the next agent knows it")
    driver.sleepAndWake()
    #expect(driver.now.bootSeconds >= 10_600)
    driver.saved()
    driver.endsDurably(.invalidGrant)
    #expect(driver.durable?.grant?.verdict?.isUnconfirmed == nil)
    driver.pass(100_000)
    driver.wakes()
    #expect(driver.sent.count == 2)
    #expect(driver.durable?.refreshToken == "r1")
  }

  @Test("the retry that is answered serves everybody who waited")
  func ambiguousRecovers() {
    let driver = MachineDriver(.expired())
    let id = driver.ask()
    driver.saved()
    driver.ends(.sentNoAnswer("closed"))
    driver.sleepAndWake()
    driver.saved()
    driver.endsDurably(.granted("a2"))
    #expect(driver.token(id) == "a2")
    #expect(driver.durable?.intent == nil)
  }

  @Test("a retry that was not sent does not count")
  func retryNotSent() {
    let driver = MachineDriver(.expired())
    let id = driver.ask()
    driver.saved()
    driver.ends(.sentNoAnswer("closed"))
    driver.sleepAndWake()
    driver.saved()
    driver.endsDurably(.notSent("no network"))
    #expect(driver.durable?.intent?.attempt == 1)
    #expect(driver.failure(id) == .unavailable)
    driver.sleepAndWake()
    driver.saved()
    driver.endsDurably(.granted("a2"))
    #expect(driver.durable?.accessToken == "a2")
  }

  @Test(
    "a start with an intent on disk: one retry after the first sending, none after the second, none where the account says never",
    arguments: [(1, AmbiguousRetry.once, true), (2, .once, false), (1, .never, false)])
  func crashed(attempt: Int, policy: AmbiguousRetry, isRetried: Bool) {
    let driver = MachineDriver(.expired().withIntent(attempt: attempt), .plain.with { $0.ambiguousRetry = policy })
    let id = driver.ask()
    driver.saved()
    if isRetried {
      driver.endsDurably(.granted("a2"))
      #expect(driver.token(id) == "a2")
    } else {
      #expect(driver.sent.isEmpty)
      #expect(driver.failure(id) == .loginRequired)
      #expect(driver.durable?.refreshToken == "r1")
    }
  }

  @Test("the retry after a crash does not wait until somebody asks, on-demand accounts included")
  func crashedUnattended() {
    let driver = MachineDriver(.expired().withIntent(attempt: 1), .plain.with { $0.keep = .onDemand })
    driver.sleepAndWake()
    driver.saved()
    #expect(driver.sent.count == 1)
  }

  @Test("where a lost answer may never be repeated, the first loss asks for a login")
  func never() {
    let driver = MachineDriver(.expired(), .plain.with { $0.ambiguousRetry = .never })
    let id = driver.ask()
    driver.saved()
    driver.endsDurably(.sentNoAnswer("closed"))
    #expect(driver.failure(id) == .loginRequired)
    #expect(driver.sent.count == 1)
  }

  @Test("an intent of another refresh token says nothing about this one")
  func foreignIntent() {
    let driver = MachineDriver(
      .expired().withIntent(attempt: 2).with { $0.grant?.refreshToken = StoredSecret(Secret("r7")) })
    driver.ask()
    driver.saved()
    #expect(driver.sent.count == 1)
    #expect(driver.durable?.intent?.attempt == 1)
  }
}
