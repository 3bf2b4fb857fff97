import AgentWire
import OAuthProtocol
import Sealing
import Testing

@testable import AgentCore

@Suite("Rotation: one refresh per generation, and no refresh token lost")
struct RotationTests {
  @Test("fifty who ask together cause one request, and get the same token")
  func singleFlight() {
    let driver = MachineDriver(.expired())
    let ids = (0..<50).map { $0 % 2 == 0 ? driver.ask() : driver.ask(rejected: "a1") }
    driver.saved()
    let late = driver.ask()
    driver.endsDurably(.granted("a2"))
    #expect(driver.sent.count == 1)
    for id in ids + [late] { #expect(driver.token(id) == "a2") }
  }

  @Test("the intent is durable before the refresh token leaves, and names it, its attempt and its endpoint")
  func intentFirst() {
    let driver = MachineDriver(.expired())
    driver.ask()
    #expect(driver.log == ["save"])
    #expect(driver.sending == nil)
    driver.saved()
    #expect(driver.log == ["save", "send"])
    #expect(driver.durable?.intent?.attempt == 1)
    #expect(driver.durable?.intent?.fingerprint == Fingerprint(of: Secret("r1")).description)
    #expect(driver.durable?.intent?.endpoint == "https://login.example.com/token")
  }

  @Test("nobody is answered before the answer is durable, and it is published before it is delivered")
  func savedFirst() {
    let driver = MachineDriver(.expired())
    let id = driver.ask()
    driver.saved()
    driver.ends(.granted("a2"))
    #expect(driver.isWaiting(id))
    #expect(driver.log == ["save", "send", "save"])
    driver.saved()
    #expect(driver.log == ["save", "send", "save", "publish", "deliver"])
    #expect(driver.durable?.intent == nil)
    #expect(driver.durable?.refreshToken == "r2")
  }

  static let badAnswers: [TokenCallEnd] = [
    .unusable(.accessTokenMissing, refreshToken: "r2"),
    .refusedWithoutReason(refreshToken: "r2"),
    .refused("invalid_grant", refreshToken: "r2"),
    .refused("invalid_scope", refreshToken: "r2"),
    .refused("invalid_client", refreshToken: "r2"),
  ]

  @Test("a refresh token that came with a bad answer is kept, whatever the verdict", arguments: badAnswers.indices)
  func salvaged(index: Int) {
    let driver = MachineDriver(.expired())
    let id = driver.ask()
    driver.saved()
    driver.endsDurably(Self.badAnswers[index])
    #expect(driver.durable?.refreshToken == "r2")
    #expect(driver.failure(id) != nil)
  }

  @Test("an answer without a refresh token keeps the old one")
  func missingKeepsOld() {
    let driver = MachineDriver(.expired())
    driver.ask()
    driver.saved()
    driver.endsDurably(.granted("a2", refreshToken: nil))
    #expect(driver.durable?.refreshToken == "r1")
  }

  @Test("what was never sent withdraws its intent, durably, and counts for nothing")
  func notSent() {
    let driver = MachineDriver(.expired())
    for _ in 0..<5 {
      let id = driver.ask()
      driver.saved()
      driver.ends(.notSent("connection refused"))
      #expect(driver.isWaiting(id))
      driver.saved()
      #expect(driver.durable?.intent == nil)
      #expect(driver.failure(id) == .unavailable)
      driver.pass(400)
    }
    let id = driver.ask()
    driver.saved()
    driver.endsDurably(.granted("a2"))
    #expect(driver.token(id) == "a2")
  }

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

  @Test("several keys of one grant rotate one after the other, each with the refresh token of the one before")
  func keys() {
    let driver = MachineDriver(.expired())
    let write = TokenKey(scope: ["write"])
    let one = driver.ask(seconds: 30)
    let two = driver.ask(write, seconds: 20)
    driver.saved()
    driver.endsDurably(.granted("a2", refreshToken: "r2"))
    #expect(driver.token(one) == "a2")
    #expect(driver.isWaiting(two))
    driver.saved()
    driver.endsDurably(.granted("w1", refreshToken: "r3"))
    #expect(driver.token(two) == "w1")
    #expect(driver.sent.map(\.scope) == [[], ["write"]])
    #expect(driver.sent.last?.grant.refreshToken == Secret("r2"))
    #expect(driver.durable?.token(write)?.scope == ["write"], "RFC 6749 §5.1: as asked when the answer names none")
    #expect(driver.token(driver.ask()) == "a2")
    #expect(driver.token(driver.ask(write)) == "w1")
  }

  @Test("keys wait in the order of the deadlines of those who ask")
  func deadlines() {
    let driver = MachineDriver(.expired())
    driver.ask(seconds: 30)
    driver.ask(TokenKey(scope: ["late"]), seconds: 25)
    driver.ask(TokenKey(scope: ["soon"]), seconds: 5)
    for token in ["a2", "b", "c"] {
      driver.saved()
      driver.endsDurably(.granted(token, refreshToken: "r-\(token)"))
    }
    #expect(driver.sent.map(\.scope) == [[], ["soon"], ["late"]])
  }

  @Test("sixteen keys are kept at most, and where a refresh kills older tokens only the new one")
  func keyLimit() {
    let driver = MachineDriver(.expired())
    for index in 0..<20 {
      driver.ask(TokenKey(scope: ["s\(index)"]))
      driver.saved()
      driver.endsDurably(.granted("t\(index)", refreshToken: "r\(index)"))
    }
    #expect(driver.durable?.tokens.count == TokenKey.limit)
    driver.define(.plain.with { $0.refreshRevokesAccessToken = true })
    driver.ask(TokenKey(scope: ["last"]))
    driver.saved()
    driver.endsDurably(.granted("only"))
    #expect(driver.durable?.tokens.count == 1)
  }

  @Test("a waiter that leaves takes nothing with it")
  func leaving() {
    let driver = MachineDriver(.expired())
    let id = driver.ask()
    driver.saved()
    driver.timesOut(id)
    #expect(driver.failure(id) == .timeout)
    driver.endsDurably(.granted("a2"))
    #expect(driver.durable?.refreshToken == "r2")
    #expect(driver.token(driver.ask()) == "a2")
  }
}
