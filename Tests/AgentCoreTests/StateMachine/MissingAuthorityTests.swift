import AgentWire
import Testing

@testable import AgentCore

@Suite("A private authority that is gone")
struct MissingAuthorityTests {
  @Test("It is told with what brings it back and no time to try again, and is tried again all the same")
  func isGone() {
    let driver = MachineDriver(.expired())
    let id = driver.ask()
    driver.saved()
    driver.endsDurably(.noAuthority("h: its ca_file /ca.pem does not exist; nothing was sent"))
    for failure in [driver.failureWhole(id), driver.failureWhole(driver.ask())] {
      #expect(failure?.kind == .configInvalid && failure?.retryAfterMilliseconds == nil)
      #expect(failure?.hint?.text.hasPrefix("put the file back") == true)
    }
    #expect(driver.machine.authorityHint != nil)
    driver.pass(10)
    let later = driver.ask()
    driver.saved()
    driver.endsDurably(.notSent("no route"))
    #expect(driver.failure(later) == .unavailable && driver.machine.authorityHint == nil)
  }

  @Test("So is a certificate of the client's that the server refuses; the refresh token counts as not sent")
  func certificate() {
    let driver = MachineDriver(.expired())
    let id = driver.ask()
    driver.saved()
    driver.endsDurably(.noCertificate("h: the server refused the client's certificate"))
    for failure in [driver.failureWhole(id), driver.failureWhole(driver.ask())] {
      #expect(failure?.kind == .clientRejected && failure?.retryAfterMilliseconds == nil)
      #expect(failure?.hint?.text.contains("oauthctl key show work --certificate") == true)
    }
    #expect(driver.machine.record?.intent == nil && driver.machine.certificateHint != nil)
    driver.pass(10)
    let later = driver.ask()
    driver.saved()
    driver.endsDurably(.notSent("no route"))
    #expect(driver.failure(later) == .unavailable && driver.machine.certificateHint == nil)
  }
}
