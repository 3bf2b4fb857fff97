import AgentWire
import Glibc
import Testing

@testable import oauthctl

@Suite("Steps that work")
struct StepTests {
  @Test("A folder that takes no file is told with what lets its user write there")
  func writing() {
    func step(_ code: Int32, owner: UInt32? = 7, home: String = "/my files") -> NextStep? {
      FileBytes.writing(in: "/my files", failed: code, owner: owner, user: 7, home: home)
    }
    #expect(step(EACCES) == .run("chmod u+rwx '/my files'"))
    #expect(step(EACCES, owner: 0) == .run("sudo chown 7: '/my files'"))
    for home in ["/my", "/my files/below", "/"] {
      #expect(step(EACCES, owner: 0, home: home) == .advice("name a place in a folder of your own"))
    }
    #expect(step(EROFS)?.text.contains("findmnt -T '/my files'") == true)
    #expect(step(EACCES, owner: nil) == nil && step(EIO) == nil)
  }

  @Test("A long step is shown whole by status and by doctor")
  func whole() {
    var agent = PretendedAgent()
    (agent.account.state, agent.account.reason) = (.clientRejected, "refused")
    let step = String(repeating: "look at this; ", count: 40) + "then: oauthctl get-token work --force"
    agent.account.hint = step
    let report = DoctorReport(findings: Doctor.findings(.init(), agent))
    let terminal = Page().terminal()
    let lines =
      DoctorPage(report: report).lines(terminal)
      + StatusPage(status: agent.status, accounts: [agent.account], now: 0).lines(terminal)
    #expect(lines.count { $0.hasSuffix(step) } == 2)
  }
}
