import Testing

@testable import AgentWire

@Suite("Event lines")
struct EventLineTests {
  @Test(
    "Each event is one notification, byte for byte",
    arguments: [
      (
        AgentEvent.account("work", state: .loginRequired, reason: "refused", expiresAt: 7),
        #"{"jsonrpc":"2.0","method":"events.account","params":{"account":"work","expires_at":7,"reason":"refused","state":"login_required"}}"#
      ),
      (.account("work", state: nil), #"{"jsonrpc":"2.0","method":"events.account","params":{"account":"work"}}"#),
      (.vault(.locked), #"{"jsonrpc":"2.0","method":"events.vault","params":{"state":"locked"}}"#),
      (
        .vault(.damaged, reason: "a\n\u{1B}b"),
        #"{"jsonrpc":"2.0","method":"events.vault","params":{"reason":"a\n\u001bb","state":"damaged"}}"#
      ),
      (.problems(2), #"{"jsonrpc":"2.0","method":"events.problems","params":{"count":2}}"#),
      (.lost(300), #"{"jsonrpc":"2.0","method":"events.lost","params":{"count":300}}"#),
    ])
  func line(event: AgentEvent, line: String) { #expect(String(decoding: event.line, as: UTF8.self) == line + "\n") }
}
