import AgentWire
import Sealing
import Testing

@testable import AgentCore

@Suite("A disk that fails")
struct SaveFailureTests {
  @Test("an intent that cannot be saved sends nothing, and says storage_failed; later it is tried again")
  func intent() {
    let driver = MachineDriver(.expired())
    let id = driver.ask()
    driver.saveFails()
    #expect(driver.failure(id) == .storageFailed)
    #expect(driver.sent.isEmpty)
    driver.pass(5)
    let again = driver.ask()
    driver.saved()
    driver.endsDurably(.granted("a2"))
    #expect(driver.token(again) == "a2")
  }

  @Test("a rotated refresh token that cannot be saved is kept, and saved before anything else is sent")
  func result() {
    let driver = MachineDriver(.expired())
    let id = driver.ask()
    driver.saved()
    driver.ends(.granted("a2"))
    driver.saveFails()
    #expect(driver.failure(id) == .storageFailed)
    #expect(driver.failure(driver.ask()) == .storageFailed)
    #expect(driver.failure(driver.ask(force: true)) == .storageFailed)
    for _ in 0..<5 {
      driver.sleepAndWake()
      #expect(driver.saving??.refreshToken == "r2")
      driver.saveFails()
    }
    #expect(driver.sent.count == 1)
    driver.sleepAndWake()
    driver.saved()
    #expect(driver.durable?.refreshToken == "r2")
    #expect(driver.durable?.intent == nil)
    #expect(driver.token(driver.ask()) == "a2")
    #expect(driver.sent.count == 1)
  }

  @Test("a valid token is served while the disk fails")
  func servesOn() {
    let driver = MachineDriver(.loggedIn(life: 100, age: 80))
    let id = driver.ask()
    driver.saveFails()
    #expect(driver.token(id) == "a1")
  }

  @Test("a change that comes meanwhile is answered at once, and when it can be saved saves the refresh token along")
  func changeMeanwhile() {
    let driver = MachineDriver(.expired())
    driver.ask()
    driver.saved()
    driver.ends(.granted("a2"))
    driver.saveFails()
    let failed = driver.change(.setSecret(.clientSecret, Secret("s")))
    #expect(driver.saving??.refreshToken == "r2")
    driver.saveFails()
    #expect(driver.changes[failed]??.kind == .storageFailed)
    let id = driver.change(.setSecret(.clientSecret, Secret("s")))
    driver.saved()
    #expect(driver.isDurable(id))
    #expect(driver.durable?.refreshToken == "r2")
    #expect(driver.durable?.clientSecret?.secret == Secret("s"))
    #expect(driver.token(driver.ask()) == "a2")
  }

  @Test("a login that cannot be saved fails as such and leaves what was")
  func login() {
    let driver = MachineDriver()
    let id = driver.change(.login("b1"))
    driver.saveFails()
    #expect(driver.changes[id]??.kind == .storageFailed)
    #expect(driver.token(driver.ask()) == "a1")
    #expect(driver.durable?.refreshToken == "r1")
  }

  @Test("changes queued behind a save that fails are not forgotten")
  func queued() {
    let driver = MachineDriver(.expired())
    driver.ask()
    let id = driver.change(.logout())
    driver.saveFails()
    driver.saved()
    #expect(driver.isDurable(id))
    #expect(driver.durable?.grant == nil)
  }

  @Test("the end of a revocation that cannot be noted does not have it sent again and again")
  func revocation() {
    let driver = MachineDriver()
    driver.change(.logout())
    driver.saved()
    driver.revocationEnds(.revoked)
    driver.saveFails()
    #expect(driver.revoking == nil)
    #expect((driver.machine.wake(at: driver.now) ?? 0) > driver.now.bootSeconds)
  }
}
