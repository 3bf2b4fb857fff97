import AgentWire
import Sealing
import Testing

@testable import AgentCore

@Suite("Validity: how long a token must still last")
struct ValidityTests {
  @Test(
    "the default is a third of the life, sixty seconds at most",
    arguments: [(3_600.0, 3_539.0, true), (3_600, 3_541, false), (90, 59, true), (90, 61, false), (3, 1, true)])
  func byDefault(life: Double, age: Double, isServed: Bool) {
    let driver = MachineDriver(.loggedIn(life: life, age: age), .plain.with { $0.keep = .onDemand })
    let id = driver.ask()
    #expect((driver.token(id) == "a1") == isServed)
    #expect((driver.saving != nil) == !isServed)
  }

  @Test("more than the life is refused, with the most there is, and costs no request")
  func unattainable() {
    let driver = MachineDriver(.loggedIn(life: 100, age: 50))
    let id = driver.ask(least: 101)
    #expect(driver.failure(id) == .validityUnattainable)
    #expect(driver.failureWhole(id)?.maximumValiditySeconds == 90)
    #expect(driver.saving == nil)
    #expect(driver.token(driver.ask(least: 101, bestEffort: true)) == "a1")
  }

  @Test(
    "a token younger than a tenth of its life, and than thirty seconds, is not renewed to meet a wish",
    arguments: [(100.0, 5.0, 96.0, false), (600, 59, 599, false), (600, 61, 599, true), (3_600, 40, 3_590, false)])
  func young(life: Double, age: Double, least: Double, isRenewed: Bool) {
    let driver = MachineDriver(.loggedIn(life: life, age: age))
    let id = driver.ask(least: least)
    #expect((driver.failure(id) == .validityUnattainable) == !isRenewed)
    #expect((driver.saving != nil) == isRenewed)
  }

  @Test("what a refusal advises is served, whatever the age of the token", arguments: [0.0, 5, 29, 59, 61, 599])
  func advised(age: Double) throws {
    let driver = MachineDriver(.loggedIn(life: 600, age: age))
    for least in [601.0, 700] { #expect(driver.failure(driver.ask(least: least)) == .validityUnattainable) }
    let refused = try #require(driver.failureWhole(driver.ask(least: 700)))
    #expect(refused.message == "work: its tokens live 600 s, too short for 700 s from now on")
    let most = try #require(refused.maximumValiditySeconds)
    #expect(most == 540 && refused.hint?.text.hasPrefix("ask for at most 540 s (--min-validity 540)") == true)
    let id = driver.ask(least: Double(most))
    if driver.saving != nil {
      driver.saved()
      driver.pass(2)
      driver.endsDurably(.granted("a2", life: 600))
    }
    #expect(driver.token(id) == (age > 60 ? "a2" : "a1"))
  }

  @Test("what an old token does not last for, a new one may")
  func renewed() {
    let driver = MachineDriver(.loggedIn(life: 100, age: 50))
    let id = driver.ask(least: 80)
    driver.saved()
    driver.endsDurably(.granted("a2", life: 100))
    #expect(driver.token(id) == "a2")
  }

  @Test("a new token that lives shorter than before is told as such, and asked for only once")
  func shrunk() {
    let driver = MachineDriver(.loggedIn(life: 100, age: 60))
    let id = driver.ask(least: 80)
    let humble = driver.ask(least: 80, bestEffort: true)
    driver.saved()
    driver.endsDurably(.granted("a2", life: 10))
    #expect(driver.failure(id) == .validityUnattainable)
    #expect(driver.failureWhole(id)?.maximumValiditySeconds == 9)
    #expect(driver.token(humble) == "a2")
    #expect(driver.sent.count == 1)
  }

  @Test("best effort makes no refresh while half of the life is left", arguments: [(49.0, true), (51, false)])
  func bestEffort(age: Double, isServed: Bool) {
    let driver = MachineDriver(.loggedIn(life: 100, age: age), .plain.with { $0.keep = .onDemand })
    let id = driver.ask(least: 100, bestEffort: true)
    #expect((driver.token(id) == "a1") == isServed)
    #expect((driver.saving != nil) == !isServed)
  }

  @Test("a life that was never told: served until it is rejected, whatever validity is asked for, and never planned")
  func unknownLife() {
    let driver = MachineDriver(.loggedIn(life: nil, age: 1_000_000, asked: true))
    #expect(driver.token(driver.ask()) == "a1")
    #expect(driver.token(driver.ask(least: 86_400)) == "a1")
    #expect(driver.machine.wake(at: driver.now) == nil)
    let id = driver.ask(rejected: "a1")
    driver.saved()
    driver.endsDurably(.granted("a2", life: nil))
    #expect(driver.token(id) == "a2")
  }

  @Test("a life counts from the moment the request is sent, not from the wait for a place or for the disk")
  func countsFromSending() {
    let driver = MachineDriver(.expired())
    driver.givesPlaces = false
    driver.ask()
    driver.pass(20)
    driver.placed()
    driver.pass(2)
    driver.saved()
    driver.pass(10)
    driver.endsDurably(.granted("a2", life: 100))
    #expect(driver.durable?.token(.standard)?.remaining(at: driver.now) == 90)
  }

  @Test("without a refresh token an expired grant asks for a login, and a valid token is served to its end")
  func notRenewable() {
    let driver = MachineDriver(.loggedIn(life: 100, refreshToken: nil))
    #expect(driver.token(driver.ask()) == "a1")
    #expect(!driver.machine.isRenewable)
    driver.pass(101)
    #expect(driver.failure(driver.ask()) == .loginRequired)
    #expect(driver.failure(MachineDriver(nil).ask()) == nil)
  }

  @Test("an account that was never logged in says so")
  func neverLoggedIn() {
    let driver = MachineDriver(nil)
    #expect(driver.failure(driver.ask()) == .loginRequired)
    #expect(driver.machine.state(at: driver.now).state == .new)
  }
}

@Suite("Clocks: reboot, suspend, clocks that jump")
struct ClockTests {
  @Test("a wall clock that jumps a day either way changes nothing within one boot", arguments: [-86_400.0, 86_400])
  func wallJump(seconds: Double) {
    let driver = MachineDriver(.loggedIn(life: 3_600, age: 600, asked: true))
    let wake = driver.machine.wake(at: driver.now)
    driver.now.wallSeconds += seconds
    #expect(driver.token(driver.ask()) == "a1")
    #expect(driver.sent.isEmpty)
    #expect(driver.durable?.token(.standard)?.remaining(at: driver.now) == 3_000)
    #expect(wake != nil)
  }

  @Test("suspend counts: boot time goes on while the machine sleeps")
  func suspend() {
    let driver = MachineDriver(.loggedIn(life: 3_600))
    driver.pass(3_601)
    let id = driver.ask()
    #expect(driver.isWaiting(id))
  }

  @Test("after another boot the wall clock decides", arguments: [(100.0, true), (3_700, false)])
  func reboot(away: Double, isServed: Bool) {
    let driver = MachineDriver(.loggedIn(life: 3_600))
    driver.now = Moment(bootID: "boot-2", bootSeconds: 5, wallSeconds: driver.now.wallSeconds + away)
    driver.crash()
    #expect((driver.token(driver.ask()) == "a1") == isServed)
  }

  @Test(
    "a token from the future, by a clock that was set back over a boot or another time namespace, may be of any age: it is renewed",
    arguments: ["boot-1", "boot-2"])
  func setBack(boot: String) {
    let driver = MachineDriver(.loggedIn(life: 3_600))
    driver.now = Moment(bootID: boot, bootSeconds: 5, wallSeconds: 0)
    driver.crash()
    let id = driver.ask()
    #expect(driver.isWaiting(id))
    driver.saved()
    driver.endsDurably(.granted("a2"))
    #expect(driver.token(id) == "a2")
    #expect(driver.durable?.token(.standard)?.remaining(at: driver.now) == 3_600)
  }

  @Test(
    "where the server's clock was heard in both boots, it tells the age, whatever the wall clock is",
    arguments: [(-10_800.0, 100.0, true), (-10_800, 3_700, false), (10_800, 100, true), (10_800, 3_700, false)])
  func corrected(wrongBy: Double, away: Double, isServed: Bool) {
    let driver = MachineDriver(.loggedIn(life: 3_600).with { $0.tokens[0].received.behindSeconds = 0 })
    driver.now = Moment(
      bootID: "boot-2", bootSeconds: 5, wallSeconds: driver.now.wallSeconds + away + wrongBy, behindSeconds: -wrongBy)
    driver.crash()
    #expect((driver.token(driver.ask()) == "a1") == isServed)
  }

  @Test("a machine that stood still makes its tokens older, durably, and nothing that came later")
  func stoodStill() {
    let driver = MachineDriver(.loggedIn(life: 3_600))
    let noticed = driver.now
    driver.ages(by: 3_000, before: noticed)
    driver.saved()
    #expect(driver.durable?.token(.standard)?.remaining(at: driver.now) == 600)
    driver.pass(10)
    let id = driver.ask(force: true)
    driver.saved()
    driver.endsDurably(.granted("a2"))
    #expect(driver.token(id) == "a2")
    driver.ages(by: 3_000, before: noticed)
    #expect(driver.saving == nil && driver.durable?.token(.standard)?.remaining(at: driver.now) == 3_600)
  }

  @Test("a token that comes with a Date carries how wrong the clock was")
  func dated() {
    let driver = MachineDriver(.expired())
    driver.ask()
    driver.saved()
    driver.endsDurably(.granted("a2", life: 60, date: Int64(driver.now.wallSeconds) + 7_200))
    let behind = driver.durable?.tokens.first?.received.behindSeconds ?? 0
    #expect(abs(behind - 7_200) <= 1)
  }
}
