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

  @Test("a newer record takes the place of what is here, and is held")
  func restored() {
    let driver = MachineDriver()
    let newer = AccountRecord.loggedIn().with { $0.grant?.refreshToken = StoredSecret(Secret("newer")) }
    driver.change(.restore(newer, afterRollback: 7))
    driver.saved()
    #expect(driver.durable?.refreshToken == "newer" && driver.machine.isRolledBack)
  }

  @Test("an account that has nothing writes nothing")
  func nothing() {
    let driver = MachineDriver(nil)
    let change = driver.change(.writeAnew(afterRollback: 7))
    #expect(driver.saving == nil && driver.isDurable(change))
  }
}
