import AgentWire
import OAuthProtocol
import Sealing
import Testing

@testable import AgentCore

@Suite("The second request within the server's reuse window")
struct ReuseWindowTests {
  private func sending(_ grace: Double = 30) -> (MachineDriver, UInt64) {
    let driver = MachineDriver(.expired(), .plain.with { $0.reuseGraceSeconds = grace })
    let id = driver.ask(seconds: 100)
    driver.saved()
    return (driver, id)
  }

  private func second(_ driver: MachineDriver) {
    driver.sleepAndWake()
    driver.saved()
  }

  @Test(
    "without an answer it is sent once more after half the window, fifteen seconds at most, while the first stays open",
    arguments: [(30.0, 15.0), (600, 15), (10, 5)])
  func when(grace: Double, expected: Double) {
    let (driver, id) = sending(grace)
    driver.sleepAndWake()
    #expect((driver.now.bootSeconds - 10_000).rounded() == expected)
    #expect(driver.sent.count == 1, "its intent comes first")
    driver.saved()
    #expect(driver.open.count == 2 && driver.durable?.intent?.attempt == 2)
    driver.ends(.granted("a2"), at: 1)
    driver.saved()
    #expect(driver.token(id) == "a2")
    driver.ends(.sentNoAnswer("closed"))
    #expect(driver.saving == nil && driver.durable?.refreshToken == "r2" && driver.durable?.intent == nil)
  }

  @Test("without a known window there is no second request beside the first")
  func unknown() {
    let driver = MachineDriver(.expired())
    driver.ask()
    driver.saved()
    #expect(driver.machine.wake(at: driver.now) == nil)
    driver.pass(50)
    #expect(driver.machine.wish(at: driver.now) == nil)
  }

  @Test("nothing is sent after the window: not beside the first, not after its loss, not after a start")
  func window() {
    let (driver, id) = sending()
    driver.givesPlaces = false
    driver.pass(31)
    driver.placed()
    #expect(driver.saving == nil)
    driver.endsDurably(.sentNoAnswer("closed"))
    #expect(driver.failure(id) == .loginRequired && driver.durable?.grant?.verdict?.isUnconfirmed == true)
    let late = MachineDriver(.expired().withIntent(attempt: 1), .plain.with { $0.reuseGraceSeconds = 30 })
    late.pass(31)
    late.wakes()
    late.saved()
    #expect(late.sent.isEmpty && late.durable?.grant?.verdict?.isUnconfirmed == true)
    let early = MachineDriver(.expired().withIntent(attempt: 1), .plain.with { $0.reuseGraceSeconds = 30 })
    early.pass(20)
    early.wakes()
    early.saved()
    #expect(early.sent.count == 1)
  }

  @Test(
    "of a machine that stood still the wall clock tells: nothing is sent after the window, beside the first or after its loss",
    arguments: [31.0, 7_200])
  func stoodStill(pause: Double) {
    let (driver, id) = sending()
    driver.givesPlaces = false
    driver.pass(15)
    driver.now.wallSeconds += pause
    driver.placed()
    #expect(driver.saving == nil)
    driver.endsDurably(.sentNoAnswer("closed"))
    #expect(driver.failure(id) == .loginRequired && driver.durable?.grant?.verdict?.isUnconfirmed == true)
    let next = MachineDriver(.expired().withIntent(attempt: 1), .plain.with { $0.reuseGraceSeconds = 30 })
    next.pass(5)
    next.now.wallSeconds += pause
    next.wakes()
    next.saved()
    #expect(next.sent.isEmpty && next.durable?.grant?.verdict?.isUnconfirmed == true)
  }

  @Test("of a machine that stood still its server tells, where the wall clock came back behind")
  func told() {
    let (driver, id) = sending()
    driver.givesPlaces = false
    driver.pass(15)
    driver.ages(by: 7_200, before: driver.now)
    driver.placed()
    #expect(driver.saving == nil)
    driver.endsDurably(.granted("a2", refreshToken: "r2"))
    #expect(driver.token(id) == "a2")
  }

  @Test("what its server tells makes no sending younger than the wall clock says")
  func younger() {
    let driver = MachineDriver(.expired().withIntent(attempt: 1), .plain.with { $0.reuseGraceSeconds = 30 })
    driver.pass(5)
    driver.now.wallSeconds += 1_200
    driver.ages(by: 0, before: driver.now)
    if driver.saving != nil { driver.saved() }
    driver.wakes()
    driver.saved()
    #expect(driver.sent.isEmpty && driver.durable?.grant?.verdict?.isUnconfirmed == true)
  }

  @Test(
    "a sending from the future, by a clock that was set back, may be of any age: nothing is sent after it",
    arguments: [
      Moment(bootID: "boot-2", bootSeconds: 5, wallSeconds: 0),
      Moment(bootID: "boot-1", bootSeconds: 5, wallSeconds: 0),
    ])
  func future(now: Moment) {
    let driver = MachineDriver(.expired().withIntent(attempt: 1), .plain.with { $0.reuseGraceSeconds = 30 })
    driver.now = now
    driver.wakes()
    driver.saved()
    #expect(driver.sent.isEmpty && driver.durable?.grant?.verdict?.isUnconfirmed == true)
  }

  @Test("an answer that decides nothing begins no new window: it counts from the lost sending")
  func answerBetween() {
    let driver = MachineDriver(.expired().withIntent(attempt: 1), .plain.with { $0.reuseGraceSeconds = 30 })
    driver.wakes()
    driver.saved()
    driver.endsDurably(.serverError)
    #expect(driver.sent.count == 1 && driver.durable?.intent?.attempt == 1)
    driver.pass(31)
    driver.wakes()
    driver.saved()
    #expect(driver.sent.count == 1 && driver.durable?.grant?.verdict?.isUnconfirmed == true)
  }

  @Test(
    "after a lost answer a rejected client is what is shown; when the window is over nothing is sent, mended or not")
  func clientRejectedBetween() {
    for isMended in [true, false] {
      let driver = MachineDriver(
        .loggedIn(life: 36_000).withIntent(attempt: 1), .plain.with { $0.reuseGraceSeconds = 30 })
      driver.wakes()
      driver.saved()
      driver.endsDurably(.invalidClient)
      driver.pass(31)
      driver.wakes()
      #expect(driver.saving == nil && driver.durable?.intent?.attempt == 1)
      #expect(driver.failure(driver.ask(rejected: "a1")) == .clientRejected)
      if isMended {
        driver.change(.setSecret(.clientSecret, Secret("new")))
        driver.saved()
      } else {
        driver.sleepAndWake()
      }
      driver.saved()
      #expect(driver.sent.count == 1 && driver.durable?.grant?.verdict?.kind == .loginRequired)
      #expect(driver.durable?.grant?.verdict?.isUnconfirmed == true)
      driver.sleepAndWake()
      driver.saved()
      #expect(driver.sent.count == 2 && driver.now.bootSeconds >= 46_000, "after the last token's end")
      driver.endsDurably(.invalidClient)
      #expect(driver.durable?.grant?.verdict?.kind == .clientRejected && driver.durable?.intent == nil)
    }
  }

  @Test("of two requests that were open at once, each counts that used nothing up", arguments: [true, false])
  func bothAnswered(areBoth: Bool) {
    let (driver, _) = sending()
    second(driver)
    driver.ends(areBoth ? .serverError : .sentNoAnswer("closed"), at: 1)
    driver.endsDurably(.serverError)
    #expect(driver.durable?.intent?.attempt == (areBoth ? nil : 1))
  }

  @Test("a place that comes too late, or an intent that takes too long, sends nothing")
  func slowIntent() {
    let (driver, _) = sending()
    driver.sleepAndWake()
    driver.pass(20)
    driver.saved()
    #expect(driver.sent.count == 1)
    driver.endsDurably(.granted("a2"))
    #expect(driver.durable?.accessToken == "a2")
  }

  @Test("nor does a repetition after a lost answer whose intent takes too long")
  func slowRepetition() {
    let driver = MachineDriver(.expired().withIntent(attempt: 1), .plain.with { $0.reuseGraceSeconds = 30 })
    driver.pass(20)
    driver.wakes()
    driver.pass(11)
    driver.saved()
    driver.saved()
    driver.saved()
    #expect(driver.sent.isEmpty && driver.durable?.intent?.attempt == 1)
    #expect(driver.durable?.grant?.verdict?.isUnconfirmed == true)
  }

  @Test("what is sent again has its connection before the window ends, or is not sent; other sendings take their time")
  func connection() throws {
    let (driver, _) = sending()
    second(driver)
    #expect(driver.sent.map { $0.leavesWithinSeconds?.rounded() } == [nil, 15])
    #expect(try TokenEndpoint.route(of: #require(driver.sent.first)).connectTimeoutMilliseconds == 5_000)
    let late = MachineDriver(.expired().withIntent(attempt: 1), .plain.with { $0.reuseGraceSeconds = 30 })
    late.pass(28)
    late.wakes()
    late.saved()
    #expect(try TokenEndpoint.route(of: #require(late.sent.first)).connectTimeoutMilliseconds == 2_000)
    late.endsDurably(.notSent("no connection"))
    late.pass(5_000)
    late.wakes()
    late.saved()
    late.saved()
    #expect(late.sent.last?.leavesWithinSeconds == nil && late.durable?.grant?.verdict?.isUnconfirmed == true)
  }

  @Test("the first answer that comes while the second intent is being saved is taken, and nothing more is sent")
  func answeredMeanwhile() {
    let (driver, id) = sending()
    driver.sleepAndWake()
    driver.ends(.granted("a2"))
    #expect(driver.isWaiting(id))
    driver.saved()
    driver.saved()
    #expect(driver.token(id) == "a2" && driver.sent.count == 1)
  }

  @Test("a second intent that cannot be saved leaves the first request alone")
  func diskFails() {
    let (driver, id) = sending()
    driver.sleepAndWake()
    driver.saveFails()
    driver.endsDurably(.granted("a2"))
    #expect(driver.token(id) == "a2" && driver.sent.count == 1)
  }

  @Test("a refusal waits for the request that is still open")
  func refusalWaits() {
    let (driver, id) = sending()
    second(driver)
    driver.ends(.invalidGrant, at: 1)
    #expect(driver.isWaiting(id) && driver.saving == nil)
    driver.endsDurably(.granted("a2"))
    #expect(driver.token(id) == "a2")
    let (both, other) = sending()
    second(both)
    both.ends(.invalidGrant, at: 1)
    both.endsDurably(.sentNoAnswer("closed"))
    #expect(both.failure(other) == .loginRequired && both.durable?.grant?.verdict?.oauthError == "invalid_grant")
  }

  /// The second request was answered, the first is open still, and then this change is durable.
  private func overtaken(by change: AccountChange) -> MachineDriver {
    let (driver, _) = sending()
    second(driver)
    driver.ends(.granted("a3", refreshToken: "r3"), at: 1)
    driver.saved()
    driver.pass(5)
    driver.change(change)
    driver.saved()
    return driver
  }

  @Test("a late token is nothing to a login made since, at this server or another")
  func lateAfterLogin() {
    var elsewhere = DefinitionBinding.plain
    elsewhere.issuer = "https://elsewhere.example"
    elsewhere.tokenEndpoint = "https://elsewhere.example/token"
    for binding in [DefinitionBinding.plain, elsewhere] {
      let driver = overtaken(by: .login("b1", binding: binding))
      driver.ends(.granted("a2", refreshToken: "r2"))
      #expect(driver.saving == nil && driver.durable?.refreshToken == "r9")
      #expect(driver.durable?.grant?.otherRefreshToken == nil)
    }
  }

  @Test("a late token is nothing to a refresh token that a person typed since")
  func lateAfterTyping() {
    let driver = overtaken(by: .setSecret(.refreshToken, Secret("typed")))
    driver.ends(.granted("a2", refreshToken: "r2"))
    #expect(driver.saving == nil && driver.durable?.grant?.otherRefreshToken == nil)
  }

  @Test("a late token after a logout is revoked at its own server, as those before it were")
  func lateAfterLogout() {
    let driver = overtaken(by: .logout())
    while driver.durable?.revocations.isEmpty == false {
      driver.revocationEnds(.revoked)
      driver.saved()
    }
    driver.ends(.granted("a2", refreshToken: "r2"))
    driver.saved()
    #expect(driver.durable?.grant == nil)
    #expect(driver.durable?.revocations.map(\.token) == [StoredSecret(Secret("r2"))])
    #expect(driver.durable?.revocations.first?.binding == .plain)
  }

  @Test("a late token of an account that was forgotten brings nothing back")
  func lateAfterForgetting() {
    let driver = overtaken(by: .forget())
    driver.ends(.granted("a2", refreshToken: "r2"))
    #expect(driver.saving == nil && driver.durable == nil)
  }

  @Test("a server that answers both with different pairs: the first is served, the second stands by")
  func both() {
    let (driver, _) = sending()
    second(driver)
    driver.ends(.granted("a3", refreshToken: "r3"), at: 1)
    driver.saved()
    #expect(driver.durable?.refreshToken == "r3")
    driver.ends(.granted("a2", refreshToken: "r2"))
    driver.saved()
    #expect(driver.durable?.refreshToken == "r3" && driver.durable?.accessToken == "a3")
    #expect(driver.durable?.grant?.otherRefreshToken == StoredSecret(Secret("r2")))
    driver.pass(4_000)
    driver.ask()
    driver.saved()
    driver.endsDurably(.invalidGrant)
    driver.saved()
    driver.endsDurably(.granted("a4", refreshToken: "r4"))
    #expect(driver.durable?.refreshToken == "r4")
    driver.change(.logout())
    driver.saved()
    #expect(driver.durable?.revocations.map(\.hint) == ["refresh_token", "access_token"])
  }

  @Test("both answers lost within the window are ambiguous, and end nothing")
  func bothLost() {
    let (driver, id) = sending()
    second(driver)
    driver.ends(.sentNoAnswer("closed"))
    #expect(driver.isWaiting(id))
    driver.endsDurably(.sentNoAnswer("closed"))
    #expect(driver.failure(id) == .loginRequired && driver.durable?.grant?.verdict?.isUnconfirmed == true)
  }

  @Test("a lock lets no second request go")
  func lock() {
    let (driver, _) = sending()
    driver.sleepAndWake()
    driver.closes()
    driver.saved()
    #expect(driver.sent.count == 1)
    driver.endsDurably(.granted("a2"))
    #expect(driver.durable?.accessToken == "a2")
  }
}
