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
    let change = driver.writesAnew(afterRollback: 7)
    #expect(driver.machine.isSavingOnlyCopy && !driver.machine.isRolledBack)
    driver.saved()
    #expect(driver.isDurable(change) && driver.durable?.grant?.afterRollback == 7)
    #expect(driver.durable?.grant?.refreshToken == record?.grant?.refreshToken)
    #expect(!driver.machine.isRolledBack && driver.machine.rollback == 7)
  }

  @Test("where the disk fails it stays, and is written before anything else")
  func unsaved() {
    let driver = MachineDriver()
    driver.writesAnew(afterRollback: 7)
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
    driver.writesAnew(afterRollback: 7)
    driver.saved()
    #expect(driver.machine.isRolledBack)
  }

  @Test("a newer record takes the place of what is here, and is held; nothing is written for that")
  func restored() {
    let driver = MachineDriver()
    driver.replaced(by: Self.newer, afterRollback: 7)
    #expect(driver.saving == nil)
    #expect(driver.machine.record?.refreshToken == "newer" && driver.machine.isRolledBack)
    driver.replaced(by: AccountRecord(name: "work"), afterRollback: 7)
    #expect(driver.machine.record == nil && driver.published.isEmpty)
  }

  /// Of the same login as `AccountRecord.expired()`.
  private static let newer = AccountRecord.loggedIn().with {
    $0.grant?.refreshToken = StoredSecret(Secret("newer"))
    if let login = AccountRecord.expired().grant { $0.grant?.loggedIn = login.loggedIn }
  }
  private static let newLogin = newer.with { $0.grant?.loggedIn.wallSeconds += 60 }

  @Test("a secret that was set here since is written beside the newer login")
  func secretBeside() {
    let driver = MachineDriver(
      .expired().with { ($0.clientSecret, $0.clientSecretOrder, $0.order) = (StoredSecret(Secret("s")), 9, 9) })
    let login = Self.newLogin.with {
      $0.grant?.order = 5
      $0.order = 5
    }
    driver.replaced(by: login, afterRollback: 7)
    #expect(driver.machine.isSavingOnlyCopy)
    driver.saved()
    #expect(driver.durable?.clientSecretOrder == 9 && driver.durable?.refreshToken == "newer")
    #expect(driver.durable?.order == 5 && driver.durable?.grant?.order == 5)
  }

  @Test("a newer login counts also where a refresh of the one before is under way, however that ends")
  func underWay() {
    for end in [TokenCallEnd.granted("b2", refreshToken: "r2"), .invalidGrant, .notSent("no")] {
      let driver = MachineDriver(.expired())
      driver.ask()
      driver.saved()
      driver.replaced(by: Self.newLogin, afterRollback: nil)
      driver.ends(end)
      #expect(driver.saving == nil && driver.machine.record?.refreshToken == "newer")
    }
  }

  @Test("what a refresh of the same login brings afterwards is kept beside the newer refresh token")
  func beside() {
    let driver = MachineDriver(.expired())
    driver.ask()
    driver.saved()
    driver.replaced(by: Self.newer, afterRollback: nil)
    driver.endsDurably(.granted("b2", refreshToken: "r2"))
    #expect(driver.durable?.refreshToken == "newer")
    #expect(driver.durable?.grant?.otherRefreshToken == StoredSecret(Secret("r2")))
  }

  @Test("a refresh token that is under way is not sent once more for that")
  func sameToken() {
    let driver = MachineDriver(.expired())
    driver.ask()
    driver.saved()
    driver.replaced(by: .expired().with { $0.tokens = [] }, afterRollback: nil)
    #expect(driver.sent.count == 1 && driver.machine.record?.intent != nil)
    driver.endsDurably(.granted("b2", refreshToken: "r2"))
    #expect(driver.sent.count == 1 && driver.durable?.refreshToken == "r2")
  }

  @Test("nor where another vault had come before, with another login")
  func sameTokenAgain() {
    let driver = MachineDriver(.expired())
    driver.ask(seconds: 3)
    driver.saved()
    driver.replaced(by: Self.newLogin, afterRollback: nil)
    driver.replaced(by: .expired().with { $0.tokens = [] }, afterRollback: nil)
    driver.ask()
    #expect(driver.sent.count == 1 && driver.saving == nil)
    driver.endsDurably(.granted("b2", refreshToken: "r2"))
    #expect(driver.sent.count == 1 && driver.durable?.refreshToken == "r2")
  }

  @Test("a sending that either of two copies knows of counts, and none where a token came since")
  func sendings() {
    let sent = AccountRecord.loggedIn().with {
      $0.intent = RefreshIntent(
        fingerprint: Fingerprint(of: Secret("r1")).description, attempt: 1, at: .start, endpoint: "")
    }
    for order in [nil, 3] as [UInt64?] {
      let older = sent.with { $0.grant?.tokenOrder = order }
      let driver = MachineDriver(.loggedIn())
      driver.writesAnew(afterRollback: nil, insteadOf: older)
      driver.saved()
      #expect((driver.durable?.intent != nil) == (order == nil))
      let other = MachineDriver(sent)
      other.replaced(by: .loggedIn().with { $0.grant?.tokenOrder = order }, afterRollback: nil)
      #expect((other.machine.record?.intent != nil) == (order == nil))
    }
  }

  @Test("what is being saved when it comes does not take its place")
  func saving() {
    for fails in [false, true] {
      let driver = MachineDriver()
      let secret = driver.change(.setSecret(.clientSecret, Secret("s")))
      driver.replaced(by: Self.newLogin, afterRollback: nil)
      #expect(driver.machine.newest?.change == 0 && driver.machine.record?.refreshToken != "newer")
      if fails { driver.saveFails() } else { driver.saved(into: Self.newLogin) }
      #expect(driver.failed(secret) == .definitionChanged)
      #expect(driver.machine.record == Self.newLogin && driver.saving == nil)
    }
  }

  @Test("a refresh token that is being saved when it comes is kept beside the newer one")
  func savingAnswer() {
    let driver = MachineDriver(.expired())
    driver.ask()
    driver.saved()
    driver.ends(.granted("b2", refreshToken: "r2"))
    driver.replaced(by: Self.newer, afterRollback: nil)
    driver.saved(into: Self.newer)
    driver.saved()
    #expect(driver.durable?.refreshToken == "newer")
    #expect(driver.durable?.grant?.otherRefreshToken == StoredSecret(Secret("r2")))
  }

  @Test("a refresh token that the disk had no room for is kept beside the newer one")
  func unsavedAnswer() {
    let driver = MachineDriver(.expired())
    driver.ask()
    driver.saved()
    driver.ends(.granted("b2", refreshToken: "r2"))
    driver.saveFails()
    driver.replaced(by: Self.newer, afterRollback: nil)
    driver.saved()
    #expect(driver.durable?.refreshToken == "newer")
    #expect(driver.durable?.grant?.otherRefreshToken == StoredSecret(Secret("r2")))
  }

  @Test("accepting it counts, though what is written anew waits")
  func accepted() {
    let driver = MachineDriver(.expired())
    driver.ask()
    driver.saved()
    driver.writesAnew(afterRollback: 7)
    driver.happens(.rolledBack(from: nil))
    driver.endsDurably(.granted("b2", refreshToken: "r2"))
    driver.saved()
    #expect(driver.machine.rollback == nil && !driver.machine.isRolledBack && driver.durable?.refreshToken == "r2")
  }

  @Test(
    "what that vault has still to tell a server is told, and what waited in an older one is not, until it is accepted")
  func owed() {
    let other = RevocationRecord(
      token: StoredSecret(Secret("owed")), hint: "refresh_token", binding: .plain, since: .start)
    let driver = MachineDriver()
    driver.replaced(by: nil, afterRollback: 7)
    driver.change(.writeAnew(insteadOf: .loggedIn().with { $0.revocations = [other] }))
    driver.saved()
    #expect(driver.durable?.revocations == [other] && driver.revoking == nil)
    driver.happens(.rolledBack(from: nil))
    driver.change(.logout())
    driver.saved()
    #expect(driver.revoking != nil)
  }

  @Test("what a server is to be told since is told, though nobody accepts the rollback, and so is what waited here")
  func owedSince() {
    let here = RevocationRecord(
      token: StoredSecret(Secret("here")), hint: "refresh_token", binding: .plain, since: .start)
    for isSince in [false, true] {
      let driver = MachineDriver(nil)
      driver.holds(nil, revocation: .until(planned: 20_000, asked: 20_000, reason: ""))
      func owe() {
        driver.change(.owe(here))
        driver.saved()
      }
      if !isSince { owe() }
      driver.writesAnew(afterRollback: 7)
      if !isSince { driver.saved() }
      if isSince { owe() }
      #expect(driver.durable?.revocations.map(\.afterRollback) == [7])
    }
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
    #expect(driver.machine.newest?.change == 0)
    _ = next()
    driver.ask()
    #expect(driver.machine.newest?.change == 0, "an intent")
    driver.saved()
    _ = next()
    driver.endsDurably(.invalidGrant)
    #expect(driver.machine.newest?.change == 0, "a refusal")
    let login = next()
    driver.change(.login("b1"))
    #expect(driver.machine.newest?.change == login && !driver.machine.isWritten)
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
    #expect(driver.machine.newest == RecordAge(login: login, token: refresh, change: secret))
    driver.saved()
    _ = next()
    driver.writesAnew(afterRollback: 7)
    driver.saved()
    #expect(driver.durable?.age == RecordAge(login: login, token: refresh, change: secret), "only written once more")
    driver.change(.logout())
    #expect(driver.machine.newest?.last ?? 0 > refresh)
    driver.saved()
    #expect(driver.durable?.formerTokenOrder == refresh)
  }

  @Test("an account that has nothing writes nothing")
  func nothing() {
    let driver = MachineDriver(nil)
    let change = driver.writesAnew(afterRollback: 7)
    #expect(driver.saving == nil && driver.isDurable(change))
  }
}
