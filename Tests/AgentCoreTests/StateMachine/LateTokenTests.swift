import OAuthProtocol
import Sealing
import Testing

@testable import AgentCore

@Suite("A refresh token that came late")
struct LateTokenTests {
  private func late(_ token: String, for sent: String, loggedIn: Moment? = nil) -> LateToken {
    LateToken(
      refreshToken: StoredSecret(Secret(token)), sent: Fingerprint(of: Secret(sent)).description, received: .start,
      lifeSeconds: nil, binding: .plain, loggedIn: loggedIn)
  }

  @Test("it takes the place of one that the server has refused meanwhile")
  func refused() {
    var record = AccountRecord.loggedIn(refreshToken: "r3")
    record.grant?.verdict = GrantVerdict(.loginRequired, "refused", oauthError: "invalid_grant")
    record.take(late("r2", for: "r1"))
    #expect(record.grant?.refreshToken == StoredSecret(Secret("r2")) && record.grant?.verdict == nil)
    #expect(record.grant?.otherRefreshToken == nil)
  }

  @Test("it stands by where the other one is good, or nobody knows")
  func standsBy() {
    for isUnconfirmed in [nil, true] {
      var record = AccountRecord.loggedIn(refreshToken: "r3")
      if isUnconfirmed == true {
        record.grant?.verdict = GrantVerdict(.loginRequired, "no reason")
        record.grant?.verdict?.isUnconfirmed = true
      }
      record.take(late("r2", for: "r1"))
      #expect(record.grant?.refreshToken == StoredSecret(Secret("r3")))
      #expect(record.grant?.otherRefreshToken == StoredSecret(Secret("r2")))
    }
  }

  @Test("it is forgotten where what came first has been used since")
  func usedSince() {
    let driver = MachineDriver(.expired())
    driver.ask()
    driver.saved()
    driver.endsDurably(.granted("b2", refreshToken: "r2"))
    driver.pass(4_000)
    driver.ask()
    driver.saved()
    driver.endsDurably(.granted("b3", refreshToken: "r3"))
    for token in ["r2", "another"] { driver.change(.lateToken(late(token, for: "r1"))) }
    #expect(driver.saving == nil && driver.durable?.grant?.otherRefreshToken == nil)
    driver.change(.lateToken(late("r3b", for: "r2")))
    driver.saved()
    #expect(driver.durable?.grant?.otherRefreshToken == StoredSecret(Secret("r3b")))
  }

  @Test(
    "a logout of before its login, as of an older vault, revokes it in no case", arguments: [3, 5, nil] as [UInt64?])
  func laterLogin(order: UInt64?) {
    var record = AccountRecord.loggedIn()
    record.grant?.binding.revocationEndpoint = "https://login.example.com/revoke"
    guard let binding = record.grant?.binding else { return }
    (record.formerBinding, record.logoutOrder, record.grant) = (binding, 4, nil)
    record.take(
      LateToken(
        refreshToken: StoredSecret(Secret("r2")), sent: "", received: .start, lifeSeconds: nil, binding: binding,
        loggedIn: .start, order: order))
    #expect(record.revocations.isEmpty == (order == 5))
  }

  @Test("after a logout it is revoked as that logout's tokens are: beside each login that was made before it")
  func loggedOut() {
    let driver = MachineDriver(
      .loggedIn().with { $0.grant?.binding.revocationEndpoint = "https://login.example.com/revoke" })
    let login = driver.durable?.grant
    driver.change(.logout())
    driver.saved()
    let order = driver.durable?.logoutOrder
    #expect(order != nil)
    driver.change(
      .lateToken(
        LateToken(
          refreshToken: StoredSecret(Secret("r2")), sent: "", received: .start, lifeSeconds: nil,
          binding: login?.binding ?? .plain)))
    driver.saved()
    #expect(driver.durable?.revocations.map(\.order) == Array(repeating: order, count: 3))
    driver.change(.login("b1"))
    driver.saved()
    #expect(driver.durable?.logoutOrder == nil)
  }

  @Test("where it cannot be saved it stays, and is saved before anything else is sent")
  func unsaved() {
    let driver = MachineDriver()
    driver.change(.lateToken(late("r2", for: "r1", loggedIn: driver.durable?.grant?.loggedIn)))
    #expect(driver.machine.isSavingOnlyCopy)
    driver.saveFails()
    #expect(driver.durable?.refreshToken == "r1")
    driver.pass(60)
    driver.wakes()
    #expect(driver.machine.isSavingOnlyCopy && driver.sending == nil)
    driver.saved()
    #expect(driver.durable?.refreshToken == "r2")
  }

  @Test("a change that somebody asked for is none, though the account has two")
  func otherChanges() {
    for change in [AccountChange.logout(), .forget(), .login("b1"), .accept(.plain, from: .plain)] {
      let driver = MachineDriver(.loggedIn().with { $0.grant?.otherRefreshToken = StoredSecret(Secret("r2")) })
      driver.change(change)
      #expect(driver.saving != nil && !driver.machine.isSavingOnlyCopy, "\(change)")
    }
  }
}
