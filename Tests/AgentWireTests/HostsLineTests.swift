import AgentWire
import Testing

@Suite("How one more host gets an account's tokens")
struct HostsLineTests {
  private func step(_ present: [String], isLoggedIn: Bool = true) -> NextStep {
    HostsLine(account: "work", file: "/etc/work.toml", present: present, isLoggedIn: isLoggedIn)
      .step(adding: "https://api.example")
  }

  @Test("The whole line is told, with the hosts that are there already, and what binds the login to it")
  func whole() {
    #expect(
      step(["https://id.example"])
        == .advice(
          "only if work's tokens are meant for that host: have  hosts = [\"https://id.example\", \"https://api.example\"]  in /etc/work.toml, "
            + "then: oauthctl account accept work"))
    #expect(step([], isLoggedIn: false).text.hasSuffix("then: oauthctl login work"))
  }

  @Test("A long list is added to")
  func long() {
    let many = (1...HostsLine.most).map { "https://h\($0).example" }
    #expect(step(Array(many.dropLast())).text.contains("hosts = [\"https://h1.example\", "))
    #expect(step(many).text.contains(": add \"https://api.example\" to `hosts` in /etc/work.toml, then: "))
  }
}
