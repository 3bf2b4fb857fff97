import AgentWire
import OAuthProtocol
import Testing

@testable import AgentCore

@Suite("A refresh that is refused for want of the server's nonce (RFC 9449 §8)")
struct NonceTests {
  /// The intent is durable, and the request is sent.
  private func sending(_ record: AccountRecord = .expired(), _ definition: AccountDefinition = .plain) -> MachineDriver
  {
    let driver = MachineDriver(record, definition)
    driver.ask()
    driver.saved()
    return driver
  }

  @Test("that nothing was used up is durable before it is sent once more, by an intent of its own")
  func order() {
    let driver = sending()
    driver.ends(.unproven())
    #expect(driver.durable?.intent?.attempt == 1)
    driver.saved()
    #expect(driver.durable?.intent == nil && driver.sent.count == 1)
    driver.saved()
    #expect(driver.durable?.intent?.attempt == 1 && driver.sent.count == 2)
    driver.endsDurably(.granted("a2"))
    #expect(driver.token(1) == "a2" && driver.durable?.intent == nil)
    #expect(driver.log == ["save", "send", "save", "publish", "save", "send", "save", "publish", "deliver"])
  }

  @Test("kills between the refusal and the second sending cost no sending, however many")
  func kills() {
    let driver = sending()
    for _ in 0..<5 {
      driver.endsDurably(.unproven())
      driver.crash()
      driver.ask()
      driver.saved()
      #expect(driver.durable?.intent?.attempt == 1)
    }
    driver.endsDurably(.granted("a2"))
    #expect(driver.durable?.refreshToken == "r2" && driver.durable?.grant?.verdict == nil)
  }

  @Test("a sending before it that was lost still counts")
  func lost() {
    let driver = sending(.expired().withIntent(attempt: 1))
    driver.endsDurably(.unproven())
    #expect(driver.durable?.intent?.attempt == 1, "that of the lost one")
    driver.saved()
    driver.endsDurably(.unproven())
    #expect(driver.durable?.intent?.attempt == 1 && driver.failure(1) == .unavailable)
  }

  @Test("a server that wants another one still, or the one it got, is asked again by the ordinary wait")
  func endless() {
    let driver = sending()
    driver.endsDurably(.unproven())
    driver.saved()
    driver.endsDurably(.unproven())
    #expect(driver.failure(1) == .unavailable && driver.sent.count == 2 && driver.durable?.intent == nil)
    let same = sending()
    same.endsDurably(.unproven(hasNewNonce: false))
    #expect(same.failure(1) == .unavailable && same.sent.count == 1 && same.durable?.intent == nil)
  }

  @Test("it is not sent once more after the reuse window of a lost sending, nor while the agent locks")
  func notAnyMore() {
    let window = AccountDefinition.plain.with { $0.reuseGraceSeconds = 30 }
    let driver = sending(.expired().withIntent(attempt: 1), window)
    driver.pass(31)
    driver.endsDurably(.unproven())
    #expect(driver.sent.count == 1)
    let locked = sending()
    locked.closes()
    locked.endsDurably(.unproven())
    #expect(locked.sent.count == 1 && locked.saving == nil && locked.durable?.intent == nil)
  }
}
