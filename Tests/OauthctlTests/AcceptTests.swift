import AgentWire
import Testing

@testable import oauthctl

@Suite("What a login may do after its file has changed")
struct AcceptTests {
  @Test(
    "The question names where tokens and secrets would go, however long the lines above it are",
    arguments: [
      (
        ["token_endpoint": "https://evil.example:8443/" + String(repeating: "t", count: 4_000)],
        " to https://evil.example:8443"
      ),
      (["authorization_endpoint": "https://as.example/a"], ""), (["token_endpoint": "none"], ""),
    ] as [([String: String], String)])
  func destination(endpoints: [String: String], words: String) {
    let answer = AccountAcceptAnswer(differences: [], accepted: false, endpoints: endpoints)
    #expect(answer.destination == words)
  }
}
