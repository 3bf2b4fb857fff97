import AgentWire
import Sealing
import Testing

@testable import AgentCore

@Suite("Place, then intent, then request: what only waits has written nothing")
struct PlaceTests {
  private func waiting() -> (MachineDriver, UInt64) {
    let driver = MachineDriver(.expired())
    driver.givesPlaces = false
    return (driver, driver.ask())
  }

  @Test("whoever waits for a place has no intent on disk, whatever ends the wait")
  func nothingWritten() {
    let (driver, id) = waiting()
    #expect(driver.machine.wish(at: driver.now)?.priority == .caller(deadline: 10_030))
    #expect(driver.log.isEmpty && driver.isWaiting(id))
    for _ in 0..<3 {
      driver.crash()
      driver.ask()
    }
    driver.placed()
    driver.saved()
    #expect(driver.sent.count == 1)
    #expect(driver.durable?.intent?.attempt == 1, "no kill while it waited counts as a sending")
  }

  @Test("a logout takes the wish back, and nothing is sent")
  func logout() {
    let (driver, id) = waiting()
    driver.change(.logout())
    #expect(driver.machine.wish(at: driver.now) == nil)
    driver.saved()
    driver.placed()
    #expect(driver.sent.isEmpty && driver.failure(id) == .loginRequired)
  }

  @Test("a logout that comes while the intent is being saved takes the intent back")
  func logoutDuringIntent() {
    let (driver, _) = waiting()
    driver.placed()
    let logout = driver.change(.logout())
    driver.saved()
    driver.saved()
    driver.saved()
    #expect(driver.isDurable(logout) && driver.sent.isEmpty)
    #expect(driver.durable?.intent == nil && driver.durable?.revocations.count == 1)
  }

  @Test("a lock takes the wish back, and an intent that nothing followed")
  func lock() {
    let (driver, id) = waiting()
    driver.placed()
    driver.closes()
    #expect(driver.failure(id) == .vaultLocked)
    driver.saved()
    driver.saved()
    #expect(driver.sent.isEmpty && driver.durable?.intent == nil)
    driver.placed()
    #expect(driver.sent.isEmpty && driver.machine.wish(at: driver.now) == nil)
  }

  @Test("a stop lets those wait whose request is under way, and tells the others")
  func stop() {
    let (driver, id) = waiting()
    driver.placed()
    driver.saved()
    driver.closes(nil)
    #expect(driver.isWaiting(id))
    driver.endsDurably(.granted("a2"))
    #expect(driver.token(id) == "a2")
    let (other, queued) = waiting()
    other.closes(nil)
    #expect(other.failure(queued) == .unavailable)
    #expect(other.failure(other.ask()) == .unavailable)
    let (lost, waiter) = waiting()
    lost.placed()
    lost.saved()
    lost.closes(nil)
    lost.ends(.sentNoAnswer("closed"))
    #expect(lost.failure(waiter) == .unavailable, "nothing is sent a second time any more")
    #expect(lost.durable?.intent?.attempt == 1)
  }

  @Test("a server that turned out to be dead meanwhile is not asked: the place is given back")
  func dead() {
    let (driver, id) = waiting()
    driver.holds(.until(planned: 10_060, asked: 10_004, reason: "no route"))
    driver.placed()
    #expect(driver.failure(id) == .unavailable)
    #expect(driver.sent.isEmpty && driver.saving == nil && !driver.machine.isCalling)
  }

  @Test("an answer to a call of before a lock ends no other machine's call")
  func stranger() {
    let (driver, id) = waiting()
    driver.placed()
    driver.saved()
    let actions = driver.machine.handle(.callEnded(77, .granted("foreign"), random: 0.5), at: driver.now)
    #expect(actions.isEmpty && driver.isWaiting(id) && !driver.machine.awaits(77))
    driver.endsDurably(.granted("a2"))
    #expect(driver.token(id) == "a2")
  }

  @Test("a machine that takes over a call of before a lock waits for its answer and sends nothing beside it")
  func adopted() throws {
    let (before, _) = waiting()
    before.placed()
    before.saved()
    let call = try #require(before.sending)
    let driver = MachineDriver(before.durable)
    driver.givesPlaces = false
    driver.adopt(call)
    let id = driver.ask()
    #expect(driver.machine.wish(at: driver.now) == nil && driver.isWaiting(id))
    driver.endsDurably(.granted("a2"))
    #expect(driver.token(id) == "a2" && driver.durable?.refreshToken == "r2")
  }

  @Test("a late refresh token takes the place of the one it was given for, and stands by where another came first")
  func late() {
    func late(_ sent: String) -> AccountChange {
      .lateToken(
        LateToken(
          refreshToken: StoredSecret(Secret("late")), sent: Fingerprint(of: Secret(sent)).description, received: .start,
          lifeSeconds: nil, binding: .plain))
    }
    let successor = MachineDriver(.expired().withIntent(attempt: 1))
    successor.givesPlaces = false
    successor.change(late("r1"))
    successor.saved()
    #expect(successor.durable?.refreshToken == "late" && successor.durable?.intent == nil)
    let second = MachineDriver(.expired())
    second.givesPlaces = false
    second.change(late("r0"))
    second.saved()
    #expect(second.durable?.refreshToken == "r1")
    second.ask()
    second.placed()
    second.saved()
    second.endsDurably(.invalidGrant)
    #expect(second.durable?.refreshToken == "late", "it is tried before a login is asked for")
    second.placed()
    second.saved()
    second.endsDurably(.granted("a2"))
    #expect(second.durable?.accessToken == "a2" && second.durable?.grant?.otherRefreshToken == nil)
  }
}
