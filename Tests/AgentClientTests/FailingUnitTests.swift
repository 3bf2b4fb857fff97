import AgentWire
import Testing

@testable import AgentClient

@Suite("A unit that systemd cannot start")
struct FailingUnitTests {
  private func unit(
    _ state: String, _ result: String = "exit-code", _ status: Int = 217, restarts: Int = 1
  ) -> FailingUnit? {
    FailingUnit(
      shown: "ActiveState=\(state)\nResult=\(result)\nExecMainStatus=\(status)\nNRestarts=\(restarts)\n")
  }

  @Test("says whether it was not begun, or ends each time")
  func reasons() {
    #expect(unit("activating")?.remedy == .run("systemctl --user status oauthd.service"))
    #expect(unit("failed", "exit-code", 203)?.reason.contains("exit-code 203") == true)
    #expect(unit("activating", "signal", 11, restarts: 3)?.remedy == .run("oauthctl agent log -n 20"))
    #expect(unit("activating", "exit-code", 1, restarts: 3)?.reason.contains("ends each time") == true)
  }

  @Test("is looked at again in the middle of a start, and else once")
  func looks() {
    let (start, failed) = (
      "ActiveState=activating\nResult=success\nNRestarts=3\n", "ActiveState=failed\nResult=signal\nExecMainStatus=6\n"
    )
    func look(_ texts: String?...) -> (reason: String?, left: Int) {
      var left = texts[...]
      return (FailingUnit.look(pause: {}) { left.popFirst() ?? nil }?.reason, left.count)
    }
    let found = look(start, failed, failed)
    #expect(found.reason?.contains("signal 6") == true && found.left == 1)
    for (reason, left) in [look(start, start, start, failed), look("ActiveState=active\n", failed), look(nil, failed)] {
      #expect(reason == nil && left == 1)
    }
  }

  @Test("is well while it runs, rests, starts, or comes back after a crash")
  func well() {
    #expect(unit("active") == nil)
    #expect(unit("inactive", "success", 0) == nil)
    #expect(unit("activating", "success", 0, restarts: 30) == nil)
    #expect(unit("activating", "signal", 9) == nil)
    #expect(FailingUnit(shown: "Failed to connect to bus") == nil)
  }
}
