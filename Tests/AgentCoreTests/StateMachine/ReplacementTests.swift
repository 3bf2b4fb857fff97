import AgentWire
import Sealing
import Testing

@testable import AgentCore

@Suite("An account, when another vault lies in the place of the open one")
struct ReplacementTests {
  @Test("what is kept here is written there anew, and not held, now or after a restart")
  func writtenAnew() {
    let driver = MachineDriver()
    let record = driver.durable
    let change = driver.change(.writeAnew(afterRollback: 7))
    #expect(driver.machine.isSavingOnlyCopy && !driver.machine.isRolledBack)
    driver.saved()
    #expect(driver.isDurable(change) && driver.durable?.grant?.afterRollback == 7)
    #expect(driver.durable?.grant?.refreshToken == record?.grant?.refreshToken)
    #expect(!driver.machine.isRolledBack && driver.machine.rollback == 7)
  }

  @Test("where the disk fails it stays, and is written before anything else")
  func unsaved() {
    let driver = MachineDriver()
    driver.change(.writeAnew(afterRollback: 7))
    driver.saveFails()
    driver.pass(60)
    driver.wakes()
    #expect(driver.saving != nil && driver.sending == nil)
    driver.saved()
    #expect(driver.durable?.grant?.afterRollback == 7)
  }

  @Test("one that was held is held still")
  func held() {
    let driver = MachineDriver()
    driver.happens(.rolledBack(from: 5))
    driver.change(.writeAnew(afterRollback: 7))
    driver.saved()
    #expect(driver.machine.isRolledBack)
  }

  @Test("a newer record takes the place of what is here, and is held; nothing is written for that")
  func restored() {
    let driver = MachineDriver()
    let newer = AccountRecord.loggedIn().with { $0.grant?.refreshToken = StoredSecret(Secret("newer")) }
    let change = driver.change(.restore(newer, over: 0, afterRollback: 7))
    #expect(driver.saving == nil && driver.isDurable(change))
    #expect(driver.machine.record?.refreshToken == "newer" && driver.machine.isRolledBack)
    driver.change(.restore(AccountRecord(name: "work"), over: 0, afterRollback: 7))
    #expect(driver.machine.record == nil && driver.published.isEmpty)
  }

  @Test("one that is overtaken by an answer which was on its way does not, and that is written anew")
  func overtaken() {
    let driver = MachineDriver(.expired())
    driver.ask()
    driver.saved()
    let newer = AccountRecord.loggedIn().with { $0.grant?.refreshToken = StoredSecret(Secret("newer")) }
    driver.change(.restore(newer, over: driver.machine.newest, afterRollback: 7))
    _ = driver.machine.handle(.held(nil, revocations: [:], beside: [], lender: nil, order: 9), at: driver.now)
    driver.ends(.granted("b2", refreshToken: "r2"))
    driver.saved()
    driver.saved()
    #expect(driver.durable?.refreshToken == "r2" && driver.durable?.grant?.afterRollback == 7)
  }

  @Test("a login, a secret and a new token are news; an intent, a refusal and a failure are none")
  func news() {
    let driver = MachineDriver(.expired())
    var order: UInt64 = 10
    func next() -> UInt64 {
      order += 1
      _ = driver.machine.handle(.held(nil, revocations: [:], beside: [], lender: nil, order: order), at: driver.now)
      return order
    }
    #expect(driver.machine.newest == 0)
    _ = next()
    driver.ask()
    #expect(driver.machine.newest == 0, "an intent")
    driver.saved()
    _ = next()
    driver.endsDurably(.invalidGrant)
    #expect(driver.machine.newest == 0, "a refusal")
    let login = next()
    driver.change(.login("b1"))
    #expect(driver.machine.newest == login && !driver.machine.isWritten)
    driver.saved()
    #expect(driver.durable?.order == login && driver.durable?.grant?.order == login && driver.machine.isWritten)
    let secret = next()
    driver.change(.setSecret(.clientSecret, Secret("s")))
    driver.saved()
    #expect(driver.durable?.order == secret && driver.durable?.grant?.order == login)
    driver.pass(3_600)
    driver.ask(force: true)
    driver.saved()
    let refresh = next()
    driver.ends(.granted("b2", refreshToken: "r2"))
    #expect(driver.machine.newest == refresh)
    driver.saved()
    _ = next()
    driver.change(.writeAnew(afterRollback: 7))
    driver.saved()
    #expect(driver.durable?.order == refresh, "only written once more")
    driver.change(.logout())
    #expect(driver.machine.newest ?? 0 > refresh)
  }

  @Test("an account that has nothing writes nothing")
  func nothing() {
    let driver = MachineDriver(nil)
    let change = driver.change(.writeAnew(afterRollback: 7))
    #expect(driver.saving == nil && driver.isDurable(change))
  }
}
