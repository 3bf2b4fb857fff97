import AgentWire
import OAuthProtocol
import OAuthTerms
import Sealing
import Testing

@testable import AgentCore

@Suite("Verdicts: what a server's answer decides, and what it does not")
struct VerdictTests {
  private func refreshing(_ definition: AccountDefinition = .plain) -> (driver: MachineDriver, id: UInt64) {
    let driver = MachineDriver(.expired(), definition)
    let id = driver.ask()
    driver.saved()
    return (driver, id)
  }

  @Test("invalid_grant asks for a login, once and for all, and keeps the refresh token")
  func invalidGrant() {
    let (driver, id) = refreshing()
    driver.endsDurably(.refused("invalid_grant", "expired"))
    #expect(driver.failure(id) == .loginRequired)
    #expect(driver.failureWhole(id)?.oauthError == "invalid_grant")
    #expect(driver.failureWhole(id)?.oauthErrorDescription == "expired")
    #expect(driver.failureWhole(id)?.hint == .run("oauthctl login work"))
    #expect(driver.durable?.refreshToken == "r1")
    driver.pass(1_000_000)
    #expect(driver.failure(driver.ask()) == .loginRequired)
    #expect(driver.machine.wake(at: driver.now) == nil)
    driver.crash()
    #expect(driver.failure(driver.ask()) == .loginRequired, "the verdict is durable")
    #expect(driver.sent.count == 1)
  }

  @Test("a broken installation is told with what mends it and no time to try again, and is tried again all the same")
  func notInstalled() {
    let (driver, id) = refreshing()
    driver.endsDurably(.notInstalled("h: oauthd-fetch is missing"))
    for failure in [driver.failureWhole(id), driver.failureWhole(driver.ask())] {
      #expect(failure?.kind == .internal && failure?.retryAfterMilliseconds == nil)
      #expect(failure?.message == "work: h: oauthd-fetch is missing")
      #expect(failure?.hint?.text.hasPrefix("install oauthctl again") == true)
    }
    driver.pass(10)
    let later = driver.ask()
    driver.saved()
    driver.endsDurably(.notSent("no route"))
    #expect(driver.failure(later) == .unavailable)
  }

  @Test("a token that is still valid is served whatever became of the grant")
  func stillValid() {
    let driver = MachineDriver(.loggedIn(life: 3_600, age: 3_000))
    let forced = driver.ask(force: true)
    driver.saved()
    driver.endsDurably(.invalidGrant)
    #expect(driver.failure(forced) == .loginRequired)
    #expect(driver.token(driver.ask()) == "a1")
  }

  @Test("a rejected client asks for no login; it is probed once an hour, and at once after a new client secret")
  func clientRejected() {
    let (driver, id) = refreshing()
    driver.endsDurably(.invalidClient)
    #expect(driver.failure(id) == .clientRejected)
    #expect(driver.durable?.grant?.verdict?.kind == .clientRejected)
    driver.pass(60)
    #expect(driver.failure(driver.ask()) == .clientRejected)
    #expect(driver.sent.count == 1)
    driver.sleepAndWake()
    #expect(driver.now.seconds(since: .start) > 2_600)
    driver.saved()
    driver.endsDurably(.invalidClient)
    #expect(driver.sent.count == 2)
    driver.change(.setSecret(.clientSecret, Secret("new")))
    driver.saved()
    driver.wakes()
    driver.saved()
    #expect(driver.sent.last?.clientSecret == Secret("new"))
    driver.endsDurably(.granted("a2"))
    #expect(driver.durable?.grant?.verdict == nil)
    #expect(driver.token(driver.ask()) == "a2")
  }

  @Test("whoever forces it has a server that rejects the client asked at once, and no more often than others who force")
  func clientRejectedForced() {
    let (driver, id) = refreshing()
    driver.endsDurably(.invalidClient)
    #expect(driver.failureWhole(id)?.hint?.text.contains("or by: oauthctl get-token work --force; ") == true)
    let forced = driver.ask(force: true)
    #expect(driver.failure(forced) == .clientRejected, "it has answered a moment ago")
    #expect(
      driver.failureWhole(forced)?.hint?.text
        .hasPrefix("the server was asked just now; in 5 s by: oauthctl get-token work --force; ") == true)
    driver.pass(10)
    #expect(driver.failure(driver.ask()) == .clientRejected)
    #expect(driver.failure(driver.ask(rejected: "a1")) == .clientRejected)
    #expect(driver.sent.count == 1)
    var refused = 0
    for _ in 0..<10 {
      let forced = driver.ask(force: true)
      if driver.failure(forced) == .rateLimited {
        refused += 1
      } else {
        driver.saved()
        driver.endsDurably(.invalidClient)
        #expect(driver.failure(forced) == .clientRejected)
      }
      driver.pass(5)
    }
    #expect(driver.sent.count + refused == 11 && refused >= 5)
    driver.pass(60)
    let mended = driver.ask(force: true)
    driver.saved()
    driver.endsDurably(.granted("a2"))
    #expect(driver.token(mended) == "a2")
    #expect(driver.durable?.grant?.verdict == nil)
  }

  @Test("a rejected client is probed after a restart, too")
  func clientRejectedRestart() {
    let (driver, _) = refreshing()
    driver.endsDurably(.invalidClient)
    driver.crash()
    driver.sleepAndWake()
    driver.saved()
    #expect(driver.sent.count == 2)
  }

  @Test("refusals without a reason: three over ten minutes ask for a login, unconfirmed; three in a row do not")
  func withoutReason() {
    let (driver, first) = refreshing()
    driver.endsDurably(.emptyRefusal)
    #expect(driver.failure(first) == .unavailable)
    for _ in 0..<3 {
      driver.pass(20)
      let id = driver.ask()
      driver.saved()
      driver.endsDurably(.emptyRefusal)
      #expect(driver.failure(id) == .unavailable)
    }
    driver.pass(600)
    let id = driver.ask()
    driver.saved()
    driver.endsDurably(.emptyRefusal)
    #expect(driver.failure(id) == .loginRequired)
    #expect(driver.failureWhole(id)?.message.contains("unconfirmed") == true)
    #expect(driver.durable?.refreshToken == "r1")
  }

  @Test(
    "an error that servers have for a dead refresh token, too, counts as a refusal without a reason",
    arguments: ["invalid_request", "invalid_token"])
  func vagueError(error: String) {
    let (driver, first) = refreshing()
    driver.endsDurably(.refused(error, "what?"))
    #expect(driver.failure(first) == .unavailable)
    #expect(driver.failureWhole(first)?.hint == "if it stays so: oauthctl login work", "from the first one")
    #expect(driver.failureWhole(first)?.oauthError == error)
    #expect(driver.machine.state(at: driver.now).reason?.contains("if it stays so") == false, "the hint says it, once")
    #expect(driver.machine.doubtHint == "if it stays so: oauthctl login work")
    let waits = driver.ask()
    driver.timesOut(waits)
    #expect(driver.failureWhole(waits)?.hint == driver.machine.doubtHint, "to who waited no longer, too")
    driver.pass(300)
    driver.ask()
    driver.saved()
    driver.endsDurably(.refused(error))
    driver.pass(301)
    let id = driver.ask()
    driver.saved()
    driver.endsDurably(.refused(error))
    #expect(driver.failure(id) == .loginRequired)
    #expect(driver.durable?.grant?.verdict?.isUnconfirmed == true)
    #expect(driver.durable?.refreshToken == "r1")
  }

  @Test("another error, and one about a scope that was asked for, are no sign of a dead refresh token")
  func otherErrors() {
    let (driver, first) = refreshing()
    driver.endsDurably(.refused("unsupported_grant_type"))
    #expect(driver.failure(first) == .serverRefused)
    let other = MachineDriver(.loggedIn())
    let id = other.ask(TokenKey(scope: ["write"], resource: [], audience: []))
    other.saved()
    other.endsDurably(.refused("invalid_request"))
    #expect(other.failure(id) == .serverRefused && other.failureWhole(id)?.hint?.text.contains("login") != true)
  }

  @Test("a kept password is tried before refusals without a reason end the login")
  func vagueErrorWithPassword() {
    let driver = MachineDriver(
      .expired(kind: .password).with { $0.password = StoredSecret(Secret("secret")) },
      .plain.with { $0.grant = .password })
    for _ in 0..<2 {
      driver.ask()
      driver.saved()
      driver.endsDurably(.refused("invalid_request"))
      driver.pass(301)
    }
    let id = driver.ask()
    driver.saved()
    driver.ends(.refused("invalid_request"))
    driver.saved()
    #expect(driver.sent.last?.grant.type == "password")
    driver.endsDurably(.granted("a2", refreshToken: "r5"))
    #expect(driver.token(id) == "a2" && driver.durable?.refreshToken == "r5")
  }

  @Test("an unconfirmed verdict is probed every hour, over restarts too, and the first token ends it")
  func unconfirmedProbe() {
    let driver = MachineDriver(
      .expired().with {
        var verdict = GrantVerdict(.loginRequired, "status 400, again and again (unconfirmed)")
        verdict.isUnconfirmed = true
        $0.grant?.verdict = verdict
      })
    driver.sleepAndWake()
    driver.saved()
    driver.endsDurably(.emptyRefusal)
    #expect(driver.failure(driver.ask()) == .loginRequired)
    #expect((driver.machine.wake(at: driver.now) ?? 0) - driver.now.bootSeconds >= 2_700)
    driver.sleepAndWake()
    driver.saved()
    driver.endsDurably(.granted("a2"))
    #expect(driver.durable?.grant?.verdict == nil)
    #expect(driver.token(driver.ask()) == "a2")
  }

  @Test("two refusals without a reason, however far apart, are not enough, and a login counts anew")
  func withoutReasonReset() {
    let (driver, _) = refreshing()
    for _ in 0..<2 {
      driver.endsDurably(.emptyRefusal)
      driver.pass(5_000)
      driver.ask()
      driver.saved()
    }
    driver.endsDurably(.granted("a2", refreshToken: nil))
    #expect(driver.durable?.grant?.verdict == nil)
    driver.ask(force: true)
    driver.saved()
    driver.endsDurably(.emptyRefusal)
    driver.change(.login("b1"))
    driver.saved()
    driver.pass(5_000)
    for _ in 0..<2 {
      driver.ask()
      driver.saved()
      driver.endsDurably(.emptyRefusal)
      driver.pass(700)
    }
    #expect(driver.durable?.grant?.verdict == nil)
  }

  @Test("back-off doubles from one second to five minutes, spread by a quarter either way")
  func backoff() {
    for spread in [0.0, 0.5, 0.999] {
      var backoff = Backoff()
      var waits: [Double] = []
      for _ in 0..<12 {
        backoff.fail("503", at: 0, spread: spread)
        waits.append(backoff.plannedAt ?? 0)
      }
      let scale = 0.75 + 0.5 * spread
      #expect(waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300].map { $0 * scale })
      #expect((backoff.askedAt ?? 0) <= 5, "somebody who asks does not wait out minutes")
    }
  }

  @Test(
    "Retry-After wins over the back-off, an hour at most, and a zero is no invitation",
    arguments: [(120, 120.0), (90_000, 3_600), (0, 1), (-5, 1)])
  func retryAfter(told: Int, asked: Double) {
    let (driver, id) = refreshing()
    driver.endsDurably(.unusable(.status(429), retryAfterSeconds: told))
    #expect(driver.failureWhole(id)?.retryAfterMilliseconds == Int(asked * 1_000))
    let early = driver.ask()
    #expect(driver.failure(early) == .unavailable)
    #expect(driver.failureWhole(early)?.message.contains("429") == true)
    driver.pass(asked)
    driver.ask()
    driver.saved()
    #expect(driver.sent.count == 2)
  }

  @Test("who asks during the back-off is told so at once; a token that will do is served")
  func askDuringBackoff() {
    let driver = MachineDriver(.loggedIn(life: 100, age: 80))
    let first = driver.ask()
    driver.saved()
    driver.endsDurably(.serverError)
    #expect(driver.token(first) == "a1", "20 s are less than the default, and better than nothing")
    #expect(driver.token(driver.ask()) == "a1")
    #expect(driver.failure(driver.ask(least: 50)) == .unavailable)
    #expect(driver.token(driver.ask(least: 50, bestEffort: true)) == "a1")
    #expect(driver.sent.count == 1)
    driver.pass(5)
    driver.ask(least: 50)
    driver.saved()
    #expect(driver.sent.count == 2)
  }

  @Test("a scope that the server refuses is told to those who asked for it, and holds nobody else back")
  func refusedScope() {
    let write = TokenKey(scope: ["write"])
    let driver = MachineDriver(.expired())
    let one = driver.ask(write)
    driver.saved()
    let two = driver.ask()
    driver.endsDurably(.refused("invalid_scope", "no"))
    #expect(driver.failure(one) == .serverRefused)
    #expect(driver.isWaiting(two))
    driver.saved()
    driver.endsDurably(.granted("a2"))
    #expect(driver.token(two) == "a2")
    #expect(driver.failure(driver.ask(write)) == .serverRefused)
    #expect(driver.sent.count == 2)
    driver.pass(61)
    driver.ask(write)
    driver.saved()
    #expect(driver.sent.count == 3)
  }

  @Test(
    "an error of another kind is the server's refusal, and is tried again by itself no sooner than after most of a minute"
  )
  func refused() {
    let (driver, id) = refreshing()
    driver.endsDurably(.refused("unsupported_grant_type"))
    #expect(driver.failure(id) == .serverRefused)
    driver.sleepAndWake()
    #expect(driver.now.seconds(since: .start) >= 45)
  }
}
