import AgentWire
import Sealing
import Testing

@testable import AgentCore

@Suite("Compare and refresh: what a 401 leads to")
struct CompareAndRefreshTests {
  @Test("a rejected token that is not current gets the newer one at once")
  func superseded() {
    let driver = MachineDriver()
    #expect(driver.token(driver.ask(rejected: "a0")) == "a1")
    #expect(driver.sent.isEmpty)
  }

  @Test("a rejected current token is withdrawn before anything else, and refreshed")
  func current() {
    let driver = MachineDriver()
    let id = driver.ask(rejected: "a1")
    #expect(driver.log == ["publish", "save"])
    #expect(driver.published.isEmpty)
    driver.saved()
    driver.endsDurably(.granted("a2"))
    #expect(driver.token(id) == "a2")
  }

  @Test("it joins a refresh that began earlier, and takes its result when that differs")
  func joins() {
    let driver = MachineDriver(.loggedIn(life: 100, age: 90))
    driver.ask()
    driver.saved()
    let id = driver.ask(rejected: "a1")
    driver.endsDurably(.granted("a2"))
    #expect(driver.token(id) == "a2")
    #expect(driver.sent.count == 1)
  }

  @Test("only an equal result of an earlier refresh starts another, after it; equal again is token_unchanged")
  func joinsEqual() {
    let driver = MachineDriver(.loggedIn(life: 100, age: 90))
    driver.ask()
    driver.saved()
    let id = driver.ask(rejected: "a1")
    driver.endsDurably(.granted("a1"))
    #expect(driver.isWaiting(id))
    driver.saved()
    #expect(driver.sent.count == 2)
    driver.endsDurably(.granted("a1", refreshToken: "r3"))
    #expect(driver.failure(id) == .tokenUnchanged)
    #expect(driver.sent.count == 2)
  }

  @Test("the same token again: token_unchanged for who rejected it until the window ends, then it is tried anew")
  func unchanged() {
    let driver = MachineDriver()
    let first = driver.ask(rejected: "a1")
    driver.saved()
    let second = driver.ask(rejected: "a1")
    driver.endsDurably(.granted("a1"))
    #expect(driver.failure(first) == .tokenUnchanged)
    #expect(driver.failure(second) == .tokenUnchanged)
    #expect(driver.failureWhole(first)?.retryAfterMilliseconds == 30_000)
    driver.pass(29)
    #expect(driver.failure(driver.ask(rejected: "a1")) == .tokenUnchanged)
    #expect(driver.token(driver.ask()) == "a1", "the server stands by it: who has nothing against it gets it")
    #expect(driver.sent.count == 1)
    driver.pass(2)
    let id = driver.ask(rejected: "a1")
    driver.saved()
    driver.endsDurably(.granted("a2", refreshToken: "r3"))
    #expect(driver.token(id) == "a2")
  }

  @Test("askers that name an unchanged token during a refresh do not chain one refresh to the next")
  func noChain() {
    let driver = MachineDriver()
    driver.ask(rejected: "a1")
    driver.saved()
    for round in 0..<20 {
      driver.ask(rejected: "a1")
      guard driver.sending != nil else { break }
      driver.endsDurably(.granted("a1", refreshToken: "n\(round)"))
      if driver.saving != nil { driver.saved() }
    }
    #expect(driver.sent.count == 1)
  }

  @Test("token.reject marks at once, starts nothing, and the next who asks gets a new token")
  func reject() {
    let driver = MachineDriver()
    #expect(driver.reject("a0") == .superseded)
    #expect(driver.reject("a1") == .marked)
    #expect(driver.reject("a1") == .marked)
    #expect(driver.published.isEmpty)
    #expect(driver.sent.isEmpty)
    let id = driver.ask()
    driver.saved()
    driver.endsDurably(.granted("a2"))
    #expect(driver.token(id) == "a2")
    #expect(driver.reject("a1") == .superseded)
    let empty = MachineDriver(AccountRecord(name: "work"))
    #expect(empty.reject("a1") == .unknown)
  }

  @Test("a token marked by token.reject and given again by the server goes to those who have nothing against it")
  func rejectUnchanged() {
    let driver = MachineDriver()
    _ = driver.reject("a1")
    let id = driver.ask()
    let named = driver.ask(rejected: "a1")
    driver.saved()
    driver.endsDurably(.granted("a1"))
    #expect(driver.token(id) == "a1")
    #expect(driver.failure(named) == .tokenUnchanged)
  }

  @Test("with the budget spent, only who rejected the token or forces is refused; everybody else gets it")
  func othersAreServed() {
    let driver = MachineDriver()
    for round in 0..<3 {
      driver.ask(force: true)
      driver.saved()
      driver.endsDurably(.granted("b\(round)", refreshToken: "s\(round)"))
    }
    #expect(driver.reject("b2") == .marked)
    #expect(driver.failure(driver.ask(rejected: "b2")) == .rateLimited)
    #expect(driver.failure(driver.ask(force: true)) == .rateLimited)
    for _ in 0..<20 { #expect(driver.token(driver.ask()) == "b2") }
    #expect(
      driver.failure(driver.ask(least: 86_400)) == .rateLimited, "longer than it lives: a refresh would be forced")
    #expect(driver.sent.count == 3)
    // When there is a place in the budget again, the first who asks has it refreshed.
    driver.pass(30)
    let id = driver.ask()
    driver.saved()
    driver.endsDurably(.granted("b3", refreshToken: "s3"))
    #expect(driver.token(id) == "b3")
  }

  @Test("a rejected token that is near its end is refreshed whatever the budget says")
  func dueAnyway() {
    let driver = MachineDriver()
    for round in 0..<3 {
      driver.ask(force: true)
      driver.saved()
      driver.endsDurably(.granted("b\(round)", refreshToken: "s\(round)", life: 30))
    }
    _ = driver.reject("b2")
    driver.pass(25)
    let id = driver.ask()
    driver.saved()
    driver.endsDurably(.granted("b3", refreshToken: "s3"))
    #expect(driver.token(id) == "b3")
  }

  @Test("a place that refused a token and the two new ones after it costs no more refreshes; other places do")
  func refusingPlace() {
    let driver = MachineDriver()
    for round in 1...2 {
      let id = driver.ask(rejected: "a\(round)", at: "https://h/private")
      driver.saved()
      driver.endsDurably(.granted("a\(round + 1)", refreshToken: "r\(round + 1)"))
      #expect(driver.token(id) == "a\(round + 1)", "it may have been revoked")
      driver.pass(1)
    }
    let again = driver.ask(rejected: "a3", at: "https://h/private")
    #expect(driver.failure(again) == .rateLimited)
    #expect(driver.failureWhole(again)?.message.contains("https://h/private refused a new token too") == true)
    #expect(driver.reject("a3", at: "https://h/private") == .kept)
    #expect(driver.token(driver.ask()) == "a3", "it is not marked")
    #expect(driver.sent.count == 2)
    let other = driver.ask(rejected: "a3", at: "https://h/public")
    driver.saved()
    driver.endsDurably(.granted("a4", refreshToken: "r4"))
    #expect(driver.token(other) == "a4")
  }

  @Test("a blind force starts another refresh after the one in flight, one for all who force, never beside it")
  func force() {
    let driver = MachineDriver(.expired())
    let plain = driver.ask()
    driver.saved()
    let forced = (0..<10).map { _ in driver.ask(force: true) }
    driver.endsDurably(.granted("a2"))
    #expect(driver.token(plain) == "a2")
    for id in forced { #expect(driver.isWaiting(id)) }
    driver.saved()
    driver.endsDurably(.granted("a3", refreshToken: "r3"))
    for id in forced { #expect(driver.token(id) == "a3") }
    #expect(driver.sent.count == 2)
  }

  @Test("a forced refresh that the disk kept from being sent does not count")
  func notSentIsNotForced() {
    let driver = MachineDriver()
    for _ in 0..<5 {
      let forced = driver.ask(force: true)
      driver.saveFails()
      #expect(driver.failure(forced) == .storageFailed)
      driver.pass(5)
    }
    #expect(driver.sent.isEmpty)
    let id = driver.ask(force: true)
    driver.saved()
    driver.endsDurably(.granted("b1", refreshToken: "s1"))
    #expect(driver.token(id) == "b1")
  }

  @Test("forced refreshes: a burst of three, then one in thirty seconds, in flight or not")
  func budget() {
    let driver = MachineDriver()
    for round in 0..<3 {
      driver.ask(force: true)
      driver.saved()
      driver.endsDurably(.granted("b\(round)", refreshToken: "s\(round)"))
    }
    let refused = driver.ask(force: true)
    #expect(driver.failure(refused) == .rateLimited)
    #expect(driver.failureWhole(refused)?.retryAfterMilliseconds == 30_000)
    #expect(driver.failureWhole(refused)?.hint?.text.hasPrefix("try again in 30 s") == true)
    driver.pass(30)
    let id = driver.ask(rejected: "b2")
    driver.saved()
    #expect(driver.failure(driver.ask(force: true)) == .rateLimited)
    driver.endsDurably(.granted("b3", refreshToken: "s3"))
    #expect(driver.token(id) == "b3")
    #expect(driver.token(driver.ask()) == "b3")
    #expect(driver.sent.count == 4)
  }

  @Test(
    "a forced refresh that an outage ended takes none of the burst",
    arguments: [TokenCallEnd.notSent("connection refused"), .serverError])
  func outage(end: TokenCallEnd) {
    let driver = MachineDriver()
    for _ in 0..<5 {
      let id = driver.ask(force: true)
      driver.saved()
      driver.endsDurably(end)
      #expect(driver.failure(id) == .unavailable)
      driver.pass(6)
    }
    #expect(driver.sent.count == 5)
  }

  @Test("calls that were still to be sent for those who force, and are not, take none of the burst")
  func unsent() {
    let driver = MachineDriver()
    for _ in 0..<5 {
      let first = driver.ask(force: true)
      driver.saved()
      let second = driver.ask(force: true)
      let third = driver.ask(force: true)
      driver.endsDurably(.notSent("connection refused"))
      for id in [first, second, third] { #expect(driver.failure(id) == .unavailable) }
      driver.pass(6)
    }
    #expect(driver.sent.count == 5)
  }

  @Test("the tokens of other keys are not touched by a rejected one")
  func otherKey() {
    let write = TokenKey(scope: ["write"])
    let driver = MachineDriver()
    driver.ask(write)
    driver.saved()
    driver.endsDurably(.granted("w1"))
    #expect(driver.reject("w1") == .marked)
    #expect(driver.token(driver.ask()) == "a1")
    driver.ask(write)
    driver.saved()
    #expect(driver.sent.last?.scope == ["write"])
  }
}
