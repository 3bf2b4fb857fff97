import Testing

@testable import AgentClient

@Suite("Asking the user's systemd")
struct UserManagerTests {
  @Test("A program that fails has said nothing, which is not the same as an empty answer")
  func failure() {
    let manager = UserManager(environment: [:], programs: [])
    #expect(manager.output(of: ["/bin/echo", "-n", "yes"]) == "yes")
    #expect(manager.output(of: ["/bin/true"]) == "")
    #expect(manager.output(of: ["/bin/false"]) == nil)
    #expect(manager.output(of: ["/nowhere/systemctl"]) == nil)
  }
}
